package settings

import (
	"cmp"
	"io"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/database"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/files"
)

// Paths returns the files that the settings name: the configuration file, that of the secret key, and SQLite databases. It runs no
// command, prints nothing, and ignores a configuration file that cannot be read: Load reports it.
func (f *Flags) Paths(src Source) []files.Use {
	src.Stderr = io.Discard
	path, inFile, _ := readFile(f, src)
	var all []files.Use
	if path != "" {
		all = append(all, files.Use{What: "the configuration file", Path: path})
	}
	for _, set := range f.flags() {
		value := cmp.Or(set.Value, src.Getenv(Variable(set.Name)), inFile[set.Name].Value)
		switch {
		case value == "":
		case set.Name == "secret-file":
			all = append(all, files.Use{What: set.Name, Path: value})
		case set.Name == Journal || set.Name == Database:
			for _, path := range database.Files(value) {
				all = append(all, files.Use{What: set.Name, Path: path})
			}
		}
	}
	return all
}
