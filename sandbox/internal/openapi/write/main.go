// Command write generates the OpenAPI description of the gateway from the interface table.
package main

import (
	"fmt"
	"os"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/openapi"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: write interface.json openapi.json")
	}
	table, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	description, err := openapi.Generate(table)
	if err != nil {
		return err
	}
	return os.WriteFile(args[1], description, 0o644)
}
