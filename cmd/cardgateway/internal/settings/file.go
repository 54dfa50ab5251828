package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// Source is where settings are read from in addition to the flags, and where warnings are printed.
type Source struct {
	Getenv    func(string) string
	ConfigDir func() (string, error) // as os.UserConfigDir
	Stderr    io.Writer
}

// readFile reads the settings in the configuration file, and its sections. If it is named, it must exist.
func (f *Flags) readFile(src Source) (path string, values map[string]Setting, sections map[string]map[string]any, err error) {
	path = cmp.Or(f.Config, src.Getenv(Variable("config")))
	named := path != ""
	if !named {
		dir, err := src.ConfigDir()
		if err != nil { // no home directory, as in many containers
			return "", nil, nil, nil
		}
		path = filepath.Join(dir, "cardgateway", "config.toml")
	}
	text, err := files.ReadBounded(path, maxSettings)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil, nil
	}
	if err != nil {
		return path, nil, nil, exit.Fail(exit.Failed, "the configuration file cannot be read: %v; set its path with --config", err)
	}
	values, sections, err = parseFile(path, text)
	if values[Secret].Value != "" {
		warnIfReadable(src.Stderr, path)
	}
	return path, values, sections, err
}

// Section returns the settings in the section [reconcile.NAME] of the configuration file, as they would be written in flags, and where
// they are. It prints no warning: Load does.
func (f *Flags) Section(src Source, name string) (where string, values map[string]string, err error) {
	src.Stderr = io.Discard
	path, _, sections, err := f.readFile(src)
	if err != nil {
		return "", nil, err
	}
	section, ok := sections[name]
	if _, err := os.Stat(path); !ok && errors.Is(err, fs.ErrNotExist) {
		return "", nil, exit.Fail(exit.Failed, "--as %s: there is no configuration file %s; set its path with --config or %s", name,
			cmp.Or(path, "cardgateway/config.toml"), Variable("config"))
	}
	if !ok {
		return "", nil, exit.Fail(exit.Failed, "%s: there is no section [reconcile.%s]; there are: %s", path, name,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(sections)), ", "), "none"))
	}
	where, values = path+", section reconcile."+name, map[string]string{}
	for name, value := range section {
		var ok bool
		if values[name], ok = textOf(value); !ok {
			return "", nil, exit.Fail(exit.Failed, "%s: %s must be a string: %s = \"value\", as in the flag --%s", where, name, name, name)
		}
	}
	return where, values, nil
}

// parseFile parses the settings in a file, and its sections. Errors do not quote values, because they may contain the secret key.
func parseFile(path, text string) (values map[string]Setting, sections map[string]map[string]any, err error) {
	var raw map[string]any
	if err := toml.Unmarshal([]byte(text), &raw); err != nil {
		line := 0
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			line = parse.Position.Line
		}
		return nil, nil, exit.Fail(exit.Failed, "%s, line %d: is not TOML; write name = \"value\", and no name or section twice", path, line)
	}
	if sections, err = takeSections(path, raw); err != nil {
		return nil, nil, err
	}
	values, err = parseTable(path, raw)
	return values, sections, err
}

// takeSections removes the tables [reconcile.NAME] from the content of a file, and returns them.
func takeSections(path string, raw map[string]any) (map[string]map[string]any, error) {
	found, ok := raw["reconcile"]
	if !ok {
		return nil, nil
	}
	delete(raw, "reconcile")
	tables, ok := found.(map[string]any)
	named := map[string]map[string]any{}
	for name, table := range tables {
		if named[name], ok = table.(map[string]any); !ok {
			break
		}
	}
	if !ok {
		return nil, exit.Fail(exit.Failed, "%s: a section is a table: [reconcile.NAME], and below it name = \"value\"", path)
	}
	return named, nil
}

// parseTable parses settings.
func parseTable(where string, raw map[string]any) (map[string]Setting, error) {
	known := []string{Secret}
	for _, s := range (&Flags{}).flags() {
		known = append(known, s.Name)
	}
	values := map[string]Setting{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if !slices.Contains(known, name) {
			return nil, exit.Fail(exit.Failed, "%s: there is no setting %q; there are %s", where, name, strings.Join(known, ", "))
		}
		text, ok := textOf(raw[name])
		if _, isBool := raw[name].(bool); !ok || isBool && !slices.Contains(switches, name) {
			return nil, exit.Fail(exit.Failed, "%s: %s must be a string: %s = \"value\"", where, name, name)
		}
		values[name] = Setting{name, text, "file " + where}
	}
	return values, nil
}

// textOf returns a value as it is written in a flag, such as an app id without quotes. It is false for tables, lists, fractions and times.
func textOf(value any) (string, bool) {
	switch value.(type) {
	case string, bool, int64:
		return fmt.Sprint(value), true
	}
	return "", false
}

// maxSettings limits the size of the configuration file, and of the file with the secret key, in bytes.
const maxSettings = 64 << 10

// warnIfReadable prints a warning if other users of the machine can read a file with the secret key.
func warnIfReadable(w io.Writer, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o044 != 0 && os.PathSeparator == '/' {
		fmt.Fprintf(w, "cardgateway: warning: %s contains the secret key, and other users can read it; run chmod 600 %s\n",
			terminal.Clean(path), shell.Quote(path))
	}
}
