package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/cardgateway/cardgateway-go"
)

// settings are the flags that every command has.
type settings struct {
	Config     string `placeholder:"FILE" help:"File with settings."`
	BaseURL    string `name:"base-url" placeholder:"URL" help:"Address of the gateway. Required."`
	AppID      string `name:"app-id" placeholder:"DIGITS" help:"The merchant's app. Required."`
	MerchantID string `name:"merchant-id" placeholder:"ID" help:"User name of HTTP Basic; with the secret key."`
	SecretFile string `name:"secret-file" placeholder:"FILE" help:"File that holds the secret key and nothing else."`
	Zone       string `placeholder:"NAME" help:"Zone of the gateway's times and of yours, such as Asia/Shanghai; UTC+8 if not set."`
	Timeout    string `placeholder:"DURATION" help:"Longest time of one request; 30s if not set."`
	DB         string `name:"db" placeholder:"DATABASE" help:"Of reconcile: a SQLite file, or postgres://user@host/database."`
	Verbose    bool   `short:"v" help:"A line on stderr for every request."`
	Quiet      bool   `short:"q" help:"No progress and no sums on stderr."`
}

// setting is one setting, and where its value comes from.
type setting struct {
	name  string
	value string
	from  string // in words; empty if it is not set
}

// secretName is the one setting that has no flag.
const secretName = "secret"

// flags returns the settings that have a flag, in the order in which check shows them.
func (s *settings) flags() []setting {
	all := []setting{
		{name: "base-url", value: s.BaseURL}, {name: "app-id", value: s.AppID}, {name: "merchant-id", value: s.MerchantID},
		{name: "secret-file", value: s.SecretFile}, {name: "zone", value: s.Zone}, {name: "timeout", value: s.Timeout},
		{name: "db", value: s.DB},
	}
	for i := range all {
		if all[i].value != "" {
			all[i].from = "flag --" + all[i].name
		}
	}
	return all
}

// variable is the environment variable of a setting.
func variable(name string) string {
	return "CARDGATEWAY_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// configured is every setting with its value: of the flag, the environment or the file, in this order.
type configured struct {
	list []setting
	file string // where settings are read from, or would be; empty if there is no such place
}

func (c *configured) get(name string) setting {
	i := slices.IndexFunc(c.list, func(s setting) bool { return s.name == name })
	return c.list[i]
}

// load finds the value of every setting.
func (s *settings) load(sys system) (*configured, error) {
	file, inFile, err := s.readFile(sys)
	if err != nil {
		return nil, err
	}
	c := &configured{list: append(s.flags(), setting{name: secretName}), file: file}
	for i := range c.list {
		set := &c.list[i]
		if set.value != "" {
			continue
		}
		if value := sys.getenv(variable(set.name)); value != "" {
			set.value, set.from = value, "environment "+variable(set.name)
		} else if value := inFile[set.name]; value != "" {
			set.value, set.from = value, "file "+file
		}
	}
	return c, c.readSecret()
}

// readFile reads the file with settings: one that is named must be there, the usual one need not.
func (s *settings) readFile(sys system) (path string, values map[string]string, err error) {
	path = cmp.Or(s.Config, sys.getenv(variable("config")))
	named := path != ""
	if !named {
		dir, err := sys.configDir()
		if err != nil { // no home directory, as in many containers
			return "", nil, nil
		}
		path = filepath.Join(dir, "cardgateway", "config.toml")
	}
	text, err := readBounded(path, largestSettings)
	if !named && errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if err != nil {
		return path, nil, fail(exitNoAnswer, "the file with settings cannot be read: %v", err)
	}
	values, err = parseFile(path, text)
	if err == nil && values[secretName] != "" {
		warnIfReadable(sys.err, path)
	}
	return path, values, err
}

// parseFile reads the settings in a file. Errors do not quote it: it may hold the secret key.
func parseFile(path, text string) (map[string]string, error) {
	var raw map[string]any
	if err := toml.Unmarshal([]byte(text), &raw); err != nil {
		line := 0
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			line = parse.Position.Line
		}
		return nil, fail(exitNoAnswer, "%s, line %d: is not TOML; write name = \"value\"", path, line)
	}
	known := []string{secretName}
	for _, s := range (&settings{}).flags() {
		known = append(known, s.name)
	}
	values := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if !slices.Contains(known, name) {
			return nil, fail(exitNoAnswer, "%s: there is no setting %q; there are %s", path, clean(name), strings.Join(known, ", "))
		}
		switch value := raw[name].(type) {
		case string:
			values[name] = value
		case int64: // an app id without quotation marks
			values[name] = fmt.Sprint(value)
		default:
			return nil, fail(exitNoAnswer, "%s: %s must be a text: %s = \"value\"", path, name, name)
		}
	}
	return values, nil
}

// largestSettings bounds the file with settings, and that with the secret key.
const largestSettings = 64 << 10

// readBounded reads a file of at most so many bytes.
func readBounded(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d KiB", path, most>>10)
	}
	return string(text), err
}

// readSecret finds the secret key. Set directly or by secret-file: what comes first of flag, environment and file counts.
func (c *configured) readSecret() error {
	secret, file := &c.list[len(c.list)-1], c.get("secret-file")
	rank := func(s setting) int {
		kind, _, _ := strings.Cut(s.from, " ")
		return slices.Index([]string{"flag", "environment", "file", ""}, kind)
	}
	switch {
	case file.value == "", rank(*secret) < rank(file):
		return nil
	case rank(*secret) == rank(file):
		return fail(exitNoAnswer, "the secret key is set twice, by %s (%s) and by %s (%s): take one away",
			secret.name, secret.from, file.name, file.from)
	}
	text, err := readBounded(file.value, largestSettings)
	if err != nil {
		return fail(exitNoAnswer, "secret-file (%s) cannot be read: %v", file.from, err)
	}
	secret.value, secret.from = strings.TrimRight(text, "\r\n"), "file "+file.value
	if strings.TrimSpace(secret.value) == "" {
		return fail(exitNoAnswer, "secret-file (%s) is empty: %s", file.from, file.value)
	}
	return nil
}

// warnIfReadable says that other users of the machine can read a file with the secret key.
func warnIfReadable(w io.Writer, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o044 != 0 && os.PathSeparator == '/' {
		fmt.Fprintf(w, "cardgateway: warning: %s holds the secret key and other users can read it; run chmod 600 %s\n",
			clean(path), quote(path))
	}
}

// client makes the client that the settings describe. Transport is nil for the usual one.
func (c *call) client(transport http.RoundTripper) (*cardgateway.Client, error) {
	set, err := c.settings.load(c.system)
	if err != nil {
		return nil, err
	}
	return c.clientOf(set, transport)
}

func (c *call) clientOf(set *configured, transport http.RoundTripper) (*cardgateway.Client, error) {
	if err := set.complete(); err != nil {
		return nil, err
	}
	if secret := set.get(secretName); secret.from == "file "+set.get("secret-file").value {
		warnIfReadable(c.err, set.get("secret-file").value)
	}
	config := cardgateway.Config{BaseURL: set.get("base-url").value, AppID: cardgateway.AppID(set.get("app-id").value)}
	if merchant := set.get("merchant-id"); merchant.value != "" {
		config.Authenticate = cardgateway.BasicAuth(merchant.value, set.get(secretName).value)
	}
	var err error
	if zone := set.get("zone"); zone.value != "" {
		if config.Location, err = time.LoadLocation(zone.value); err != nil {
			return nil, fail(exitNoAnswer, "zone (%s): %q is no zone; write a name such as Asia/Shanghai or UTC", zone.from, clean(zone.value))
		}
	}
	if timeout := set.get("timeout"); timeout.value != "" {
		if config.AttemptTimeout, err = time.ParseDuration(timeout.value); err != nil || config.AttemptTimeout <= 0 {
			return nil, fail(exitNoAnswer, "timeout (%s): %q is no duration; write 30s or 2m", timeout.from, clean(timeout.value))
		}
	}
	if c.settings.Verbose {
		config.Logger = slog.New(slog.NewTextHandler(c.err, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if transport != nil {
		config.HTTPClient = &http.Client{Transport: transport}
	}
	client, err := cardgateway.New(config)
	if invalid, ok := errors.AsType[*cardgateway.ValidationError](err); ok {
		return nil, fail(exitNoAnswer, "%s", set.inOwnWords(invalid))
	}
	return client, err
}

// complete says which settings are missing.
func (c *configured) complete() error {
	var missing []string
	for _, name := range []string{"base-url", "app-id"} {
		if c.get(name).value == "" {
			missing = append(missing, fmt.Sprintf("%s is missing: set --%s, %s, or %s in %s",
				name, name, variable(name), name, cmp.Or(c.file, "a file that --config names")))
		}
	}
	merchant, secret := c.get("merchant-id"), c.get(secretName)
	switch {
	case merchant.value != "" && secret.value == "":
		missing = append(missing, fmt.Sprintf("merchant-id is set (%s), and the secret key is missing: set %s, or --secret-file",
			merchant.from, variable(secretName)))
	case merchant.value == "" && secret.value != "":
		missing = append(missing, fmt.Sprintf("the secret key is set (%s), and merchant-id is missing: set --merchant-id or %s",
			secret.from, variable("merchant-id")))
	}
	if len(missing) > 0 {
		return fail(exitNoAnswer, "%s", strings.Join(missing, "\ncardgateway: "))
	}
	return nil
}

// inOwnWords names the settings in place of the fields of Config.
func (c *configured) inOwnWords(invalid *cardgateway.ValidationError) string {
	names := map[string]string{"BaseURL": "base-url", "AppID": "app-id"}
	var all []string
	for _, p := range invalid.Problems {
		name := p.Field
		if own := names[p.Field]; own != "" {
			name = fmt.Sprintf("%s (%s)", own, c.get(own).from)
		}
		all = append(all, name+" "+p.Message)
	}
	return clean(strings.Join(all, "; "))
}

// asFlags returns the settings that were given as flags, for a command that is printed to be run next.
func (s *settings) asFlags() (args []string) {
	if s.Config != "" {
		args = append(args, "--config", s.Config)
	}
	for _, set := range s.flags() {
		if set.value != "" {
			args = append(args, "--"+set.name, set.value)
		}
	}
	return args
}

// commandLine writes a command that a shell reads back as these words.
func commandLine(words ...string) string {
	for i, w := range words {
		words[i] = quote(w)
	}
	return "cardgateway " + strings.Join(words, " ")
}

// quote writes a word for a POSIX shell.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:+,@=", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
