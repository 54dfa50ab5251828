package main

import (
	"os"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
)

// findFiles collects the files of the flags and settings, and returns an error if the command would write one that it reads, or one
// twice. It is called before anything is written. The flags that name files have the tag file, with the value read, write or
// database.
func (c *call) findFiles(parsed *kong.Context) error {
	for _, flag := range parsed.Flags() {
		value, what := flag.Target.String(), "--"+flag.Name
		if value == "" && flag.Name == "list-dsn" {
			value, what = c.getenv(settings.Variable(flag.Name)), settings.Variable(flag.Name)
		}
		if value == "" {
			continue
		}
		switch flag.Tag.Get("file") {
		case "read":
			c.read = append(c.read, files.Use{What: what, Path: value})
		case "write":
			c.written = append(c.written, files.Use{What: what, Path: value})
		case "database":
			c.read = append(c.read, database.Files(what, value)...)
		}
	}
	if out, ok := c.out.(*os.File); ok {
		if info, err := out.Stat(); err == nil && info.Mode().IsRegular() {
			c.written = append(c.written, files.Use{What: "stdout", Open: out})
		}
	}
	return c.keepApart()
}

// keepApart is findFiles for files that the flags do not name.
func (c *call) keepApart(written ...files.Use) error {
	written = append(written, c.written...)
	if len(written) == 0 {
		return nil
	}
	if err := files.Apart(written, append(c.settings.Paths(c.source()), c.read...)); err != nil {
		return exit.Fail(exit.Failed, "%v", err)
	}
	return nil
}
