//! Generates the clients and messages of a descriptor set. Usage: `reeve-client-codegen CONTRACTS.binpb FOLDER`.

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(contracts), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: reeve-client-codegen CONTRACTS.binpb FOLDER".into());
    };
    let set = prost_types::FileDescriptorSet::decode(std::fs::read(contracts)?.as_slice())?;
    tonic_prost_build::configure().build_server(false).include_file("mod.rs").out_dir(folder).compile_fds(set)?;
    Ok(())
}
