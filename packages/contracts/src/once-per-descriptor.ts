/** Returns a function that computes the value of each descriptor once: reading an option decodes it anew each time. */
export function oncePerDescriptor<Descriptor extends object, Value>(
  compute: (descriptor: Descriptor) => Value,
): (descriptor: Descriptor) => Value {
  const values = new WeakMap<Descriptor, { readonly value: Value }>();
  return (descriptor) => {
    let found = values.get(descriptor);
    if (found === undefined) {
      found = { value: compute(descriptor) };
      values.set(descriptor, found);
    }
    return found.value;
  };
}
