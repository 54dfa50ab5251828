package settings

import (
	"fmt"
	"io"
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
	set, err := (&Flags{BaseURL: "flag"}).Load(t.Context(), Source{Getenv: func(name string) string { return env[name] }})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range set.List {
		got = append(got, fmt.Sprintf("%s=%s (%s)", s.Name, s.Value, strings.ReplaceAll(s.From, path, "F")))
	}
	want := "base-url=flag (flag --base-url), app-id=12 (file F), any-app= (), test-payments= (), merchant-id= (), secret-file= (), " +
		"secret-command= (), zone=UTC (environment CARDGATEWAY_ZONE), hosted-page-lifetime= (), " +
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
		{"flag", "", "false", true, "true [--app-id 7 --any-app]"},
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
				flags = &Flags{AppID: "7", AnyApp: true}
			}
			got := ""
			set, err := flags.Load(t.Context(), Source{Getenv: func(name string) string { return env[name] }})
			if err == nil {
				got = fmt.Sprint(set.AnyApp, " ", flags.AsFlags())
			} else {
				got = strings.ReplaceAll(err.Error(), path, "F")
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// FuzzSettingsFile: a file with settings is read or refused, and a refusal does not quote a value.
func FuzzSettingsFile(f *testing.F) {
	for _, text := range []string{"", "base-url = 'x'", "app-id = 7", "secret: " + secretKey, "secret = '" + secretKey, "[a]\nzone = 1", "zone = 1.5",
		"[profile.a]\nzone = 'UTC'", "[profile]\na = 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, err := parseFile("config.toml", text, "a")
		if err != nil && (values != nil || strings.Contains(err.Error(), secretKey)) {
			t.Errorf("got %q, %v", values, err)
		}
	})
}

// TestOrder: a flag counts before the profile that is named, that before the environment, and that before the rest of the file. With a
// secret key of its own, a profile has no other.
func TestOrder(t *testing.T) {
	path := writeFile(t, "base-url = \"https://file.example\"\nzone = \"UTC\"\n[profile.a]\nbase-url = \"https://a.example\"\nsecret-file = \"/a/key\"\n"+
		"[profile.b]\napp-id = 2\n")
	env := map[string]string{"CARDGATEWAY_BASE_URL": "https://environment.example", "CARDGATEWAY_SECRET": "of the environment", "CARDGATEWAY_ZONE": "Asia/Tokyo"}
	for _, test := range []struct {
		name  string
		flags Flags
		named string // profile in the environment
		want  string // base URL, secret key, its file, zone
	}{
		{"no profile", Flags{}, "", "https://environment.example 'of the environment' '' Asia/Tokyo"},
		{"profile", Flags{Profile: "a"}, "", "https://a.example '' '/a/key' Asia/Tokyo"},
		{"profile of the environment", Flags{}, "a", "https://a.example '' '/a/key' Asia/Tokyo"},
		{"profile without a gateway", Flags{Profile: "b"}, "a", "https://environment.example 'of the environment' '' Asia/Tokyo"},
		{"flag", Flags{Profile: "a", BaseURL: "https://flag.example", Zone: "Europe/Berlin"}, "", "https://flag.example '' '/a/key' Europe/Berlin"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.flags.Config, env["CARDGATEWAY_PROFILE"] = path, test.named
			_, list, err := test.flags.merged(Source{Getenv: func(name string) string { return env[name] }, Stderr: io.Discard})
			if err != nil {
				t.Fatal(err)
			}
			value := func(name string) string { return find(list, name).Value }
			if got := fmt.Sprintf("%s '%s' '%s' %s", value("base-url"), value(Secret), value("secret-file"), value("zone")); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
