package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// secretKey must be in no error.
const secretKey = "k3y-AGsC0123456789"

// writeFile writes a file with settings.
func writeFile(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPrecedence: a flag counts before the environment, the environment before the file.
func TestPrecedence(t *testing.T) {
	path := writeFile(t, "base-url = 'file'\napp-id = 12\nzone = 'Asia/Tokyo'\ntimeout = '3s'\nsecret = 'file'\n")
	env := map[string]string{"CARDGATEWAY_CONFIG": path, "CARDGATEWAY_BASE_URL": "environment", "CARDGATEWAY_ZONE": "UTC"}
	set, err := (&Flags{BaseURL: "flag"}).Load(Source{Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range set.List {
		got = append(got, fmt.Sprintf("%s=%s (%s)", s.Name, s.Value, strings.ReplaceAll(s.From, path, "F")))
	}
	want := "base-url=flag (flag --base-url), app-id=12 (file F), any-app= (), test-payments= (), merchant-id= (), secret-file= (), " +
		"zone=UTC (environment CARDGATEWAY_ZONE), hosted-page-lifetime= (), " +
		"timeout=3s (file F), journal= (), db= (), secret=file (file F)"
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSwitches: they are true or false, in the file also without quotes, and a printed command has them as they are typed.
func TestSwitches(t *testing.T) {
	for _, test := range []struct {
		name, file, environment string
		flag                    bool
		want                    string // the value and the flags of a printed command
	}{
		{"not set", "", "", false, "false []"},
		{"flag", "", "false", true, "true [--config F --app-id 7 --any-app]"},
		{"environment", "any-app = true", "0", false, "false []"},
		{"file", "any-app = true", "", false, "true []"},
		{"file, in quotes", "any-app = 'true'", "", false, "true []"},
		{"neither", "", "yes", false, `any-app (environment CARDGATEWAY_ANY_APP): "yes" is neither true nor false`},
		{"test payments", "any-app = true\ntest-payments = true", "", false, "true []"},
		{"another setting in the file", "zone = true", "", false, `F: zone must be a string: zone = "value"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, test.file+"\n")
			env := map[string]string{"CARDGATEWAY_CONFIG": path, "CARDGATEWAY_ANY_APP": test.environment}
			flags := &Flags{}
			if test.flag {
				flags = &Flags{Config: path, AppID: "7", AnyApp: true}
			}
			got := ""
			set, err := flags.Load(Source{Getenv: func(name string) string { return env[name] }})
			if err == nil {
				got = fmt.Sprint(set.AnyApp, " ", flags.AsFlags())
			} else {
				got = err.Error()
			}
			if got = strings.ReplaceAll(got, path, "F"); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// FuzzSettingsFile: a file with settings is read or refused, and a refusal does not quote a value.
func FuzzSettingsFile(f *testing.F) {
	for _, text := range []string{"", "base-url = 'x'", "app-id = 7", "secret: " + secretKey, "secret = '" + secretKey, "[a]\nzone = 1", "zone = 1.5",
		"[reconcile.a]\nzone = 'UTC'", "[reconcile]\na = 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, _, err := parseFile("config.toml", text)
		if err != nil && (values != nil || strings.Contains(err.Error(), secretKey)) {
			t.Errorf("got %q, %v", values, err)
		}
	})
}
