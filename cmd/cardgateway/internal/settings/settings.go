package settings

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
)

// Settings contains every setting with its value, from the flag, the environment or the file, in this order.
type Settings struct {
	List []Setting

	Location           *time.Location // the gateway's time zone
	AnyApp             bool           // what states another appId is accepted, too
	TestPayments       bool           // the gateway is a test system
	Timeout            time.Duration  // of one request
	HostedPageLifetime time.Duration  // how long the cardholder can use the hosted page; zero means the client's default

	file    string // path of the configuration file, which may not exist; empty if there is none
	verbose bool
	stderr  io.Writer
}

// Missing says that a setting is missing, and where it can be set.
func (s *Settings) Missing(name string) string {
	return exit.Message("%s is missing: set --%s, %s, or %s in %s", name, name, Variable(name), name, cmp.Or(s.file, "a file that --config names"))
}

// Get returns the setting with a name.
func (s *Settings) Get(name string) Setting {
	return *find(s.List, name)
}

// Load reads all settings, including the secret key. Its errors name the setting and its source.
func (f *Flags) Load(src Source) (*Settings, error) {
	file, list, err := f.merged(src)
	if err != nil {
		return nil, err
	}
	s := &Settings{List: list, file: file, verbose: f.Verbose, stderr: src.Stderr}
	if err := cmp.Or(s.checkPasswords(), s.parse()); err != nil {
		return nil, err
	}
	return s, readSecret(s.List, src.Stderr)
}

// merged returns the path of the configuration file, and all settings, those of a file or command with the secret key unread. After an
// error of the file, the list has what the flags and the environment set.
func (f *Flags) merged(src Source) (file string, list []Setting, err error) {
	file, inFile, _, err := f.readFile(src)
	list = append(f.flags(), Setting{Name: Secret})
	for i := range list {
		set := &list[i]
		if set.Value != "" {
			continue
		}
		value, found := src.Getenv(Variable(set.Name)), inFile[set.Name]
		switch {
		case value != "":
			set.Value, set.From = value, "environment "+Variable(set.Name)
		case found.Value != "":
			*set = found
		}
	}
	return file, list, err
}

// Paths returns the files that the settings name: the configuration file, that of the secret key, and SQLite databases. It prints
// nothing, and ignores a configuration file that cannot be read: Load reports it.
func (f *Flags) Paths(src Source) (all []files.Use) {
	src.Stderr = io.Discard
	path, list, _ := f.merged(src)
	if path != "" {
		all = append(all, files.Use{What: "the configuration file", Path: path})
	}
	for _, set := range list {
		switch {
		case set.Value == "":
		case set.Name == "secret-file":
			all = append(all, files.Use{What: set.Name, Path: set.Value})
		case set.Name == Journal || set.Name == Database:
			all = append(all, database.Files(set.Name, set.Value)...)
		}
	}
	return all
}

// checkPasswords rejects a password in --journal and --db, because every user of the machine could read it.
func (s *Settings) checkPasswords() error {
	for _, name := range []string{Journal, Database} {
		if set := s.Get(name); strings.HasPrefix(set.From, "flag ") && database.HasPassword(set.Value) {
			return exit.Fail(exit.Failed, "--%s has a password, or is no URL. A password is not given in a flag, where every user of this "+
				"machine can read it: set %s, or the password alone in PGPASSWORD or MYSQL_PWD", name, Variable(name))
		}
	}
	return nil
}
