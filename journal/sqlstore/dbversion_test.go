package sqlstore

import "testing"

// TestTooOld: versions as the servers write them.
func TestTooOld(t *testing.T) {
	for _, tt := range []struct {
		dialect Dialect
		version string
		want    bool
	}{
		{Postgres, "9.5.25", true},
		{Postgres, "9.6", true},
		{Postgres, "11.22 (Debian 11.22-1.pgdg120+1)", true},
		{Postgres, "12.0", false},
		{Postgres, "12beta1", false},
		{Postgres, "15.13 (Debian 15.13-0+deb12u1)", false},
		{Postgres, "18.4", false},
		{Postgres, "of its own", false},
		{MySQL, "5.7.44-log", true},
		{MySQL, "8.0.0-dmr", true},
		{MySQL, "8.0.1-dmr", false},
		{MySQL, "8.0.36", false},
		{MySQL, "8.4.3", false},
		{MySQL, "9.1.0", false},
		{MySQL, "10.5.29-MariaDB", true},
		{MySQL, "10.6.0-MariaDB-alpha", false},
		{MySQL, "10.11.11-MariaDB-0+deb12u1", false},
		{MySQL, "11.4.2-MariaDB", false},
	} {
		t.Run(tt.dialect.String()+" "+tt.version, func(t *testing.T) {
			if got := tt.dialect.isTooOld(tt.version); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}
