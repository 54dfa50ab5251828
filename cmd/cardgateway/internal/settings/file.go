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
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// Source is where settings are read from beside the flags, and where warnings go.
type Source struct {
	Getenv    func(string) string
	ConfigDir func() (string, error) // as os.UserConfigDir
	Stderr    io.Writer
}

// readFile reads the file with settings: one that is named must be there, the usual one need not, unless a profile is asked
// for.
func readFile(s *Flags, src Source) (path string, values map[string]Setting, err error) {
	profile := cmp.Or(s.Profile, src.Getenv(Variable("profile")))
	path = cmp.Or(s.Config, src.Getenv(Variable("config")))
	named := path != "" || profile != ""
	if path == "" {
		dir, err := src.ConfigDir()
		if err != nil && !named { // no home directory, as in many containers
			return "", nil, nil
		} else if err != nil {
			return "", nil, exit.Fail(exit.NoAnswer, "profile %s: there is no file with settings; name it with --config", terminal.Clean(profile))
		}
		path = filepath.Join(dir, "cardgateway", "config.toml")
	}
	text, err := files.ReadBounded(path, largestSettings)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if err != nil {
		return path, nil, exit.Fail(exit.NoAnswer, "the file with settings cannot be read: %v", err)
	}
	values, err = parseFile(path, text, profile)
	if err != nil {
		return path, nil, err
	}
	if values[Secret].Value != "" {
		warnIfReadable(src.Stderr, path)
	}
	return path, values, profileAlone(profile, values, src)
}

// profileAlone refuses a setting that the profile and the environment both have. The environment would count, and a refund
// would go to another gateway than the one whose profile was named.
func profileAlone(profile string, values map[string]Setting, src Source) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		set := values[name]
		if profile == "" || !strings.Contains(set.From, ", profile ") {
			continue
		}
		names := []string{name}
		if slices.Contains(secretNames, name) {
			names = secretNames
		}
		for _, other := range names {
			if src.Getenv(Variable(other)) != "" {
				return exit.Fail(exit.NoAnswer, "profile %s has %s, and so has the environment (%s): unset the variable, or do without the profile",
					terminal.Clean(profile), name, Variable(other))
			}
		}
	}
	return nil
}

// parseFile reads the settings in a file: those of a profile, if one is named, and the others for all. Errors do not quote
// values: one may be the secret key.
func parseFile(path, text, profile string) (map[string]Setting, error) {
	var raw map[string]any
	if err := toml.Unmarshal([]byte(text), &raw); err != nil {
		line := 0
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			line = parse.Position.Line
		}
		return nil, exit.Fail(exit.NoAnswer, "%s, line %d: is not TOML; write name = \"value\"", path, line)
	}
	profiles, err := takeProfiles(path, raw)
	if err != nil {
		return nil, err
	}
	values, err := parseTable(path, raw, "file "+path)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(profiles)) { // a mistake in another profile is one, too
		own, err := parseTable(path+", profile "+terminal.Clean(name), profiles[name], "file "+path+", profile "+terminal.Clean(name))
		if err != nil {
			return nil, err
		}
		if name == profile {
			overrideWith(values, own)
		}
	}
	if _, ok := profiles[profile]; profile != "" && !ok {
		return nil, exit.Fail(exit.NoAnswer, "%s: there is no profile %q; there are: %s", path, terminal.Clean(profile),
			cmp.Or(terminal.Clean(strings.Join(slices.Sorted(maps.Keys(profiles)), ", ")), "none; write [profile.NAME]"))
	}
	return values, nil
}

// takeProfiles takes the tables [profile.NAME] out of what the file has.
func takeProfiles(path string, raw map[string]any) (map[string]map[string]any, error) {
	found, ok := raw["profile"]
	if !ok {
		return nil, nil
	}
	delete(raw, "profile")
	tables, ok := found.(map[string]any)
	profiles := map[string]map[string]any{}
	for name, table := range tables {
		if profiles[name], ok = table.(map[string]any); !ok {
			break
		}
	}
	if !ok {
		return nil, exit.Fail(exit.NoAnswer, "%s: a profile is a table: [profile.NAME], and below it name = \"value\"", path)
	}
	return profiles, nil
}

// parseTable reads settings.
func parseTable(where string, raw map[string]any, from string) (map[string]Setting, error) {
	known := []string{Secret}
	for _, s := range (&Flags{}).flags() {
		known = append(known, s.Name)
	}
	values := map[string]Setting{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if !slices.Contains(known, name) {
			return nil, exit.Fail(exit.NoAnswer, "%s: there is no setting %q; there are %s", where, terminal.Clean(name), strings.Join(known, ", "))
		}
		switch value := raw[name].(type) {
		case string:
			values[name] = Setting{name, value, from}
		case int64: // an app id without quotation marks
			values[name] = Setting{name, fmt.Sprint(value), from}
		default:
			return nil, exit.Fail(exit.NoAnswer, "%s: %s must be a text: %s = \"value\"", where, name, name)
		}
	}
	return values, nil
}

// overrideWith has the settings of a profile count before those for all. It has one secret key, however that is set.
func overrideWith(values, profile map[string]Setting) {
	for name, set := range profile {
		if slices.Contains(secretNames, name) && set.Value != "" {
			for _, other := range secretNames {
				if values[other].From != set.From {
					delete(values, other)
				}
			}
		}
		values[name] = set
	}
}

// largestSettings bounds the file with settings, and the secret key with what is around it.
const largestSettings = 64 << 10

// warnIfReadable says that other users of the machine can read a file with the secret key.
func warnIfReadable(w io.Writer, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o044 != 0 && os.PathSeparator == '/' {
		fmt.Fprintf(w, "cardgateway: warning: %s holds the secret key and other users can read it; run chmod 600 %s\n",
			terminal.Clean(path), terminal.Quote(path))
	}
}
