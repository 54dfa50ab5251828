package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// gremlins lists the changes that it would make to a package. It judges them with the package's own tests only, so here it only
// lists them.
const gremlins = "github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0"

// mutant is one small change of a file.
type mutant struct {
	file         string // from the root of the repository
	line, column int    // counted from 1
	kind         string // of gremlins
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d:%d %s", m.file, m.line, m.column, strings.ToLower(strings.ReplaceAll(m.kind, "_", " ")))
}

// sample returns n of the possible changes of the packages' files whose path matches, selected with the seed.
func sample(root string, packages []string, only *regexp.Regexp, n int, seed uint64) ([]mutant, error) {
	var all []mutant
	for _, dir := range packages {
		listed, err := mutantsOf(root, dir)
		if err != nil {
			return nil, fmt.Errorf("listing the changes of %s: %w", dir, err)
		}
		all = append(all, slices.DeleteFunc(listed, func(m mutant) bool { return !only.MatchString(filepath.ToSlash(m.file)) })...)
	}
	slices.SortFunc(all, func(a, b mutant) int { return strings.Compare(a.String(), b.String()) }) // they are listed in any order
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))], nil
}

func mutantsOf(root, dir string) (all []mutant, err error) {
	output, err := os.CreateTemp("", "mutants-*.json")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(output.Name()) }()
	if err := output.Close(); err != nil {
		return nil, err
	}
	list := exec.Command("go", "run", gremlins, "unleash", "--dry-run", "--output", output.Name(), "./"+dir)
	list.Dir = root
	if out, err := list.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	data, err := os.ReadFile(output.Name())
	if err != nil {
		return nil, err
	}
	var report struct {
		Files []struct {
			Name      string `json:"file_name"`
			Mutations []struct {
				Type         string `json:"type"`
				Line, Column int
			}
		}
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, err
	}
	for _, f := range report.Files {
		if strings.Contains(f.Name, "/") { // of a package below it
			continue
		}
		for _, m := range f.Mutations {
			all = append(all, mutant{filepath.Join(dir, f.Name), m.Line, m.Column, m.Type})
		}
	}
	return all, nil
}

// swaps are the changes of each kind: the operator at the position, and what replaces it. Longer operators come first.
var swaps = map[string][][2]string{
	"ARITHMETIC_BASE":       {{"+", "-"}, {"-", "+"}, {"*", "/"}, {"/", "*"}, {"%", "*"}},
	"CONDITIONALS_BOUNDARY": {{"<=", "<"}, {">=", ">"}, {"<", "<="}, {">", ">="}},
	"CONDITIONALS_NEGATION": {{"==", "!="}, {"!=", "=="}, {"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="}},
	"INCREMENT_DECREMENT":   {{"++", "--"}, {"--", "++"}},
	"INVERT_NEGATIVES":      {{"-", "+"}},
	"INVERT_LOGICAL":        {{"&&", "||"}, {"||", "&&"}},
}

// change returns the changed text of the file.
func (m mutant) change(text []byte) ([]byte, error) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if m.line > len(lines) || m.column > len(lines[m.line-1]) {
		return nil, fmt.Errorf("%s has no such place as %v", m.file, m)
	}
	before, after := lines[m.line-1][:m.column-1], string(lines[m.line-1][m.column-1:])
	for _, swap := range swaps[m.kind] {
		if rest, ok := strings.CutPrefix(after, swap[0]); ok {
			lines[m.line-1] = []byte(string(before) + swap[1] + rest)
			return bytes.Join(lines, nil), nil
		}
	}
	return nil, fmt.Errorf("%v: there is no such operator in %q", m, after)
}
