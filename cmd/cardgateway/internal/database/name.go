// Package database parses the names of databases in flags and settings, and opens the databases.
package database

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
)

// Kind is a kind of database.
type Kind string

// The kinds of databases.
const (
	SQLite   Kind = "sqlite"
	Postgres Kind = "postgres"
	MySQL    Kind = "mysql"
)

// Name is the parsed name of a database.
type Name struct {
	Kind Kind
	Text string // a path, or a URL, which may contain a password
}

// String describes the database without its password.
func (n Name) String() string {
	if n.Kind == SQLite {
		return "SQLite file " + n.Text
	}
	if u, err := url.Parse(n.Text); err == nil {
		return string(n.Kind) + " database " + u.Host + u.EscapedPath()
	}
	return string(n.Kind) + " database"
}

// HasPassword reports whether the name of a database contains a password. It must not be in a flag, and must not be printed.
func HasPassword(name string) bool {
	if !strings.Contains(name, "://") {
		return false
	}
	u, err := url.Parse(name)
	if err != nil {
		return true // it may contain one
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// serverLike matches what may be meant as a database server, with a URL, as a driver's text, or as user:password@host/database. The letter of
// a Windows drive is no scheme.
var serverLike = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:|^[A-Za-z]:([^\\/]|$)|://|(^|\s)(host|hostaddr|dbname|user|password|port|sslmode|service)\s*=` +
	`|@(tcp|unix)\(|^[^./\\:@][^/\\:@]*:[^/]*@[^/]+/`)

// Parse parses the name of a database: the path of a SQLite file, or the URL of a server. A name that looks like a server is
// never treated as a file. Errors continue a sentence ("is empty; write ...") and do not quote the name, which may contain a
// password.
func Parse(name string) (Name, error) {
	scheme, _, isURL := strings.Cut(strings.ToLower(name), "://")
	switch {
	case name == "":
		return Name{}, errors.New("is empty; write the path of a SQLite file, or postgres://user@host/database")
	case strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return Name{}, errors.New("begins or ends with white space, or contains a control character")
	case name == ":memory:":
		return Name{}, errors.New(`is ":memory:", which is lost when the program ends; write the path of a file`)
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		if _, err := pgx.ParseConfig(name); err != nil {
			return Name{}, errPostgres
		}
		return Name{Postgres, name}, nil
	case isURL && (scheme == "mysql" || scheme == "mariadb"):
		if _, err := mysqlConfig(name); err != nil {
			return Name{}, err
		}
		return Name{MySQL, name}, nil
	case serverLike.MatchString(name):
		return Name{}, errors.New("looks like a database server, but not as one is written here: postgres://user@host/database or " +
			"mysql://user@host/database; write a SQLite file as its path alone, and with ./ before a name like this")
	case strings.HasSuffix(name, "/"), strings.HasSuffix(name, string(filepath.Separator)):
		return Name{}, errors.New("ends with a slash, so it is a directory; write the path of a file")
	}
	return Name{SQLite, name}, nil
}

// errPostgres replaces errors of the driver, which may quote the name.
var errPostgres = errors.New("is not a valid Postgres URL; write postgres://user@host:5432/database, with special characters in the password as %XX")

// IsMissing reports whether a name is the path of a SQLite file that does not exist.
func IsMissing(name string) bool {
	n, err := Parse(name)
	if err != nil || n.Kind != SQLite {
		return false
	}
	_, err = os.Stat(n.Text)
	return errors.Is(err, fs.ErrNotExist)
}

// Files returns the files of a SQLite database, which what names: its own and those that SQLite and this program keep next to it. There are
// none for a server, or if the name is invalid.
func Files(what, name string) (all []files.Use) {
	n, err := Parse(name)
	if err != nil || n.Kind != SQLite {
		return nil
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", "-lock"} {
		all = append(all, files.Use{What: what, Path: n.Text + suffix})
	}
	return all
}

// errMySQL replaces errors of the driver, which may quote the name.
var errMySQL = errors.New("is not a valid MySQL URL; write mysql://user@host:3306/database, with special characters in the password as %XX")

// mysqlConfig parses mysql://user:password@host:3306/database?tls=true, or with socket=/path for a Unix socket.
func mysqlConfig(name string) (*mysql.Config, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, errMySQL
	}
	c := mysql.NewConfig()
	c.Logger = &mysql.NopLogger{} // errors are also returned
	c.User, c.DBName, c.Net, c.Addr = u.User.Username(), strings.TrimPrefix(u.Path, "/"), "tcp", u.Host
	c.Passwd, _ = u.User.Password()
	if u.Port() == "" {
		c.Addr += ":3306"
	}
	for key, values := range u.Query() {
		switch value := values[0]; key {
		case "tls":
			c.TLSConfig = value
		case "socket":
			c.Net, c.Addr = "unix", value
		default:
			return nil, fmt.Errorf("has the option %q; mysql:// supports only tls and socket", key)
		}
	}
	if c.Net == "tcp" && u.Hostname() == "" || c.DBName == "" {
		return nil, errors.New("has no host or no database; write mysql://user@host:3306/database")
	}
	if _, err := mysql.NewConnector(c); err != nil {
		return nil, errMySQL
	}
	return c, nil
}
