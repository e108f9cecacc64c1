// Executes the templates of a Helm chart as Helm does, with the functions that our chart uses. Reads
// {"values": {...}, "templates": {"path": "text"}} from the standard input.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/template"
)

type chart struct {
	Values    map[string]any    `json:"values"`
	Templates map[string]string `json:"templates"`
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	var given chart
	check(json.NewDecoder(os.Stdin).Decode(&given))
	functions := template.FuncMap{
		"quote":    func(value any) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"toString": func(value any) string { return fmt.Sprint(value) },
		"toJson": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
	}
	data := map[string]any{"Values": given.Values, "Release": map[string]any{"Revision": 1}}
	for path, text := range given.Templates {
		parsed, err := template.New(path).Option("missingkey=zero").Funcs(functions).Parse(text)
		check(err)
		var out strings.Builder
		check(parsed.Execute(&out, data))
		fmt.Println("---\n" + strings.ReplaceAll(out.String(), "<no value>", ""))
	}
}
