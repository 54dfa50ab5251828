package settings

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/database"
)

// Settings contains every setting with its value, from the flag, the environment or the file, in this order.
type Settings struct {
	List []Setting
	File string // path of the configuration file, which may not exist; empty if there is none

	verbose bool
	stderr  io.Writer
}

// FileName returns the path of the configuration file, or words for it if there is none.
func (s *Settings) FileName() string { return cmp.Or(s.File, "a file that --config names") }

// Get returns the setting with a name.
func (s *Settings) Get(name string) Setting {
	return *find(s.List, name)
}

// Load reads all settings, including the secret key. Its errors name the setting and its source.
func (f *Flags) Load(ctx context.Context, src Source) (*Settings, error) {
	file, inFile, err := readFile(f, src)
	if err != nil {
		return nil, err
	}
	s := &Settings{List: append(f.flags(), Setting{Name: Secret}), File: file, verbose: f.Verbose, stderr: src.Stderr}
	for i := range s.List {
		set := &s.List[i]
		if set.Value != "" {
			continue
		}
		if value := src.Getenv(Variable(set.Name)); value != "" {
			set.Value, set.From = value, "environment "+Variable(set.Name)
		} else if found := inFile[set.Name]; found.Value != "" {
			*set = found
		}
	}
	if err := s.checkJournal(); err != nil {
		return nil, err
	}
	return s, readSecret(ctx, s.List, src.Stderr)
}

// checkJournal rejects a password in --journal, because every user of the machine could read it.
func (s *Settings) checkJournal() error {
	set := s.Get(Journal)
	if strings.HasPrefix(set.From, "flag ") && database.HasPassword(set.Value) {
		return exit.Fail(exit.Failed, "--journal has a password, or is no URL. A password is not given in a flag, where every user of this "+
			"machine can read it: set %s, or the password alone in PGPASSWORD or MYSQL_PWD", Variable(Journal))
	}
	return nil
}
