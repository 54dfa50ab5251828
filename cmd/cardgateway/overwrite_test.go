package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

// TestNoInputIsReplaced: no command writes a file that it also reads, under whatever name, and nothing else is written before
// that is noticed.
func TestNoInputIsReplaced(t *testing.T) {
	m := newClosedMonth(t)
	db := readText(t, m.env["CARDGATEWAY_DB"])
	list := "transaction_id,amount,currency,at\n" + strings.Join(m.lines, "\n") + "\n"
	const known, config = "class,id,reason\namount,nothing,gone\n", "zone = \"Asia/Shanghai\"\n"
	for _, test := range []struct {
		name  string
		files map[string]string // "-> name" is a symbolic link, "= name" a hard link, "db" the copy of the gateway
		env   map[string]string
		args  []string
		want  string
	}{
		{"report, list", map[string]string{"n.csv": list}, nil, []string{"reconcile", "report", "--list", "n.csv", "--out", "n.html"},
			"--out (n.csv) is the same file as --list"},
		{"report, known", map[string]string{"n.csv": known}, nil, []string{"reconcile", "report", "--known", "n.csv", "--out", "n.html"}, "the same file as --known"},
		{"report, list of refunds", map[string]string{"n.json": "refund_id,amount,currency\n"}, nil,
			[]string{"reconcile", "report", "--refund-list", "n.json", "--out", "n.html", "--force"}, "the same file as --refund-list"},
		{"report, hard link", map[string]string{"list.csv": list, "n.csv": "= list.csv"}, nil,
			[]string{"reconcile", "report", "--list", "list.csv", "--out", "n.html"}, "the same file as --list"},
		{"report, symbolic link", map[string]string{"list.csv": list, "n.csv": "-> list.csv"}, nil,
			[]string{"reconcile", "report", "--list", "list.csv", "--out", "n.html", "--force"}, "the same file as --list"},
		{"report, database", map[string]string{"n.json": "db"}, nil, []string{"reconcile", "report", "--db", "n.json", "--out", "n.html", "--force"},
			"the same file as db"},
		{"report, database of the environment", map[string]string{"n.json": "db"}, map[string]string{"CARDGATEWAY_DB": "n.json"},
			[]string{"reconcile", "report", "--out", "n.html", "--force"}, "the same file as db"},
		{"report, log of the database", map[string]string{"a.db": "db", "a.db-wal": "", "n.csv": "= a.db-wal"}, nil,
			[]string{"reconcile", "report", "--db", "a.db", "--out", "n.html", "--force"}, "the same file as db"},
		{"report, database of the lists", map[string]string{"n.csv": "db"}, nil,
			[]string{"reconcile", "report", "--list-dsn", "n.csv", "--list-query", "cardgateway_orders", "--out", "n.html", "--force"}, "the same file as --list-dsn"},
		{"report, database of the lists in the environment", map[string]string{"n.csv": "db"}, map[string]string{"CARDGATEWAY_LIST_DSN": "n.csv"},
			[]string{"reconcile", "report", "--list-query", "cardgateway_orders", "--out", "n.html", "--force"}, "the same file as CARDGATEWAY_LIST_DSN"},
		{"report, configuration", map[string]string{"n.json": config}, nil, []string{"reconcile", "report", "--config", "n.json", "--out", "n.html", "--force"},
			"the same file as the configuration file"},
		{"report, secret", map[string]string{"n.csv": secretKey}, map[string]string{"CARDGATEWAY_SECRET_FILE": "n.csv", "CARDGATEWAY_SECRET": ""},
			[]string{"reconcile", "report", "--out", "n.html", "--force"}, "the same file as secret-file"},
		{"report, journal", map[string]string{"n.csv": "a journal"}, map[string]string{"CARDGATEWAY_JOURNAL": "n.csv"},
			[]string{"reconcile", "report", "--out", "n.html", "--force"}, "the same file as journal"},
		{"run, a database that does not exist yet", nil, nil,
			[]string{"reconcile", "run", "--db", "N.json", "--list", "x", "--out", "n.html"}, "the same file as db"},
		{"run, a link to what does not exist yet", map[string]string{"a.db": "-> n.json"}, nil,
			[]string{"reconcile", "run", "--db", "a.db", "--list", "x", "--out", "n.html"}, "the same file as db"},
		{"run, list", map[string]string{"n.csv": list}, nil,
			[]string{"reconcile", "run", "--db", "a.db", "--list", "n.csv", "--out", "n.html"}, "the same file as --list"},
		{"checkpoint, secret", map[string]string{"n": secretKey}, map[string]string{"CARDGATEWAY_SECRET": ""},
			[]string{"orders", "--day", "today", "--secret-file", "n", "--checkpoint", "n"}, "--checkpoint is the same file as secret-file"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			links := map[string]string{}
			for name, text := range test.files {
				if strings.HasPrefix(text, "-> ") || strings.HasPrefix(text, "= ") {
					links[name] = text
					continue
				}
				if text == "db" {
					text = db
				}
				writeText(t, dir, name, text)
			}
			for name, text := range links {
				to, isSymbolic := strings.CutPrefix(text, "-> ")
				err := error(nil)
				if isSymbolic {
					err = os.Symlink(to, name)
				} else {
					err = os.Link(strings.TrimPrefix(text, "= "), name)
				}
				if err != nil {
					t.Skip(err)
				}
			}
			before := filesIn(t, dir)
			env := maps.Clone(m.env)
			maps.Copy(env, test.env)
			tool(t, env, test.args...).want(t, exit.Failed, test.want)
			after := filesIn(t, dir)
			for name, text := range before {
				if after[name] != text {
					t.Errorf("%s was changed", name)
				}
			}
			if len(after) != len(before) {
				t.Errorf("got the files %v, want %v", len(after), len(before))
			}
		})
	}
}

// filesIn returns the contents of the files of a directory, and what its symbolic links name.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			all[path], err = os.Readlink(path)
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestReportReplacesOnlyReports: files that no report wrote, or that were changed since, are kept, unless --force is set.
func TestReportReplacesOnlyReports(t *testing.T) {
	m := newClosedMonth(t)
	t.Chdir(t.TempDir())
	tool(t, m.env, "reconcile", "match", "--list", m.list(t, m.lines[1:]...)).want(t, exit.OK)
	report := func(code int, want string, args ...string) {
		t.Helper()
		before := filesIn(t, ".")
		tool(t, m.env, append([]string{"reconcile", "report", "--quiet"}, args...)...).want(t, code, want)
		if code == exit.Failed {
			for name, text := range filesIn(t, ".") {
				if before[name] != text {
					t.Errorf("%s was changed", name)
				}
			}
		}
	}
	from := m.lastOf.AddDate(0, 0, -29).Format(time.DateOnly)
	whole := []string{"--from", from, "--to", m.lastOf.Format(time.DateOnly)}
	for _, name := range []string{"n.html", "n.csv", "n.json"} {
		writeText(t, ".", name, "of the merchant\n")
		report(exit.Failed, name+" exists, and no report wrote it", "--out", "n.html")
		succeeds(t, os.Remove(name))
	}
	report(exit.OK, "", "--out", "n.html")
	report(exit.OK, "", append(whole, "--out", "n.html")...) // its own files

	writeText(t, ".", "n.csv", strings.Replace(readText(t, "n.csv"), "class,", "Class,", 1))
	report(exit.Failed, "n.csv exists, and no report wrote it, or it was changed", "--out", "n.html")
	report(exit.OK, "", "--out", "n.html", "--force")

	// Without --out too.
	report(exit.OK, "", whole...)
	names, err := filepath.Glob("reconcile-*.csv")
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	report(exit.OK, "", whole...)
	report(exit.Failed, "--out ("+names[0]+") is the same file as --known", append(whole, "--known", names[0])...)
	writeText(t, ".", names[0], "class,id,reason\n")
	report(exit.Failed, names[0]+" exists, and no report wrote it", whole...)
}

// TestStdoutIsNoInput: with >>, stdout can be a file that is read.
func TestStdoutIsNoInput(t *testing.T) {
	m := newClosedMonth(t)
	const text = "class,id,reason\n"
	known := m.file(t, "known.csv", text)
	list := m.list(t, m.lines...)
	out, err := os.OpenFile(known, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	toolTo(t, out, m.env, "reconcile", "match", "--list", list, "--known", known).want(t, exit.Failed, "stdout is the same file as --known")
	if got := readText(t, known); got != text {
		t.Errorf("got %q", got)
	}
}
