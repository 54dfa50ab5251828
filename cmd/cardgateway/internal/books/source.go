package books

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The databases.
const (
	sqliteDB   = "sqlite"
	postgresDB = "postgres"
	mysqlDB    = "mysql" // for the merchant's lists only
)

// source is a database as a person names it.
type source struct {
	kind string
	name string // a file, or a URL
}

// String names the database without its password.
func (s source) String() string {
	if s.kind == sqliteDB {
		return "SQLite file " + s.name
	}
	if u, err := url.Parse(s.name); err == nil {
		return s.kind + " database " + u.Host + u.EscapedPath()
	}
	return s.kind + " database"
}

// HasPassword reports whether the name of a database carries a password, which belongs neither on a command line nor on
// a screen.
func HasPassword(name string) bool {
	if !strings.Contains(name, "://") {
		return false
	}
	u, err := url.Parse(name)
	if err != nil {
		return true // it cannot be said
	}
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// Describe names a database without its password, or says nothing of one whose name is wrong.
func Describe(name string) string {
	s, err := parseSource(name)
	if err != nil {
		return "set, and not understood"
	}
	return s.String()
}

var (
	schemePattern  = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):`)
	keywordPattern = regexp.MustCompile(`(^|\s)(host|hostaddr|dbname|user|password|port|sslmode|service)\s*=`)
	driverPattern  = regexp.MustCompile(`@(tcp|unix)\(`)
	serverPattern  = regexp.MustCompile(`^[^./\\:@][^/\\:@]*:[^/]*@[^/]+/`) // user:password@host/database
)

// parseSource reads the name of a database. What looks like a database server never becomes a file. Errors do not quote
// the name: it may hold a password.
func parseSource(name string) (source, error) {
	scheme := ""
	if found := schemePattern.FindStringSubmatch(name); found != nil && !isDrive(name) {
		scheme = strings.ToLower(found[1])
	}
	switch {
	case name == "":
		return source{}, errors.New("is empty; write the path of a SQLite file, or postgres://user@host/database")
	case strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return source{}, errors.New("begins or ends with white space, or has a control character in it")
	case name == ":memory:":
		return source{}, errors.New(`is ":memory:", which would be lost at the end; write the path of a file`)
	case scheme == "postgres" || scheme == "postgresql":
		return parsePostgres(name)
	case scheme == "mysql" || scheme == "mariadb":
		if !strings.HasPrefix(name[len(scheme):], "://") {
			return source{}, fmt.Errorf("begins with %s: and must begin with %s://", scheme, scheme)
		}
		return source{mysqlDB, name}, nil
	case scheme == "file", scheme == "sqlite", scheme == "sqlite3":
		return source{}, fmt.Errorf("begins with %s: and a SQLite file is named by its path alone", scheme)
	case keywordPattern.MatchString(name), driverPattern.MatchString(name):
		return source{}, errors.New("looks like a database server and is not understood; write it as a URL: postgres://user@host/database")
	case serverPattern.MatchString(name):
		return source{}, errors.New("looks like a database server without postgres:// before it; a file of such a name is written ./NAME")
	case scheme != "":
		return source{}, fmt.Errorf("begins with %s:, which is no database of this program; write the path of a SQLite file, or postgres://user@host/database", scheme)
	case strings.Contains(name, "://"):
		return source{}, errors.New("has :// in it, but no scheme before; write postgres://user@host/database")
	case strings.HasSuffix(name, "/"), strings.HasSuffix(name, string(filepath.Separator)):
		return source{}, errors.New("ends with a slash, so it is a directory; write the path of a file")
	}
	return source{sqliteDB, name}, nil
}

// isDrive reports whether a name begins with a drive letter, as paths on Windows do.
func isDrive(name string) bool {
	return len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') && name[2:min(4, len(name))] != "//"
}

func parsePostgres(name string) (source, error) {
	if !strings.Contains(name, "://") {
		return source{}, errors.New("begins with postgres: and must begin with postgres://")
	}
	if _, err := pgx.ParseConfig(name); err != nil { // its text may quote the name
		return source{}, errors.New("is no URL that Postgres understands; write postgres://user@host:5432/database, with special characters of a password as %XX")
	}
	return source{postgresDB, name}, nil
}
