package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// saved is what a file of --checkpoint holds: no row and no secret.
type saved struct {
	List    string                 `json:"list"` // orders or refunds
	Gateway string                 `json:"gateway"`
	AppID   cardgateway.AppID      `json:"appId"`
	Zone    string                 `json:"zone"`
	From    time.Time              `json:"from"`
	To      time.Time              `json:"to"`
	Filter  map[string]string      `json:"filter,omitempty"` // ids and states that were asked for
	Format  string                 `json:"format"`
	Columns []string               `json:"columns,omitempty"` // that were asked for; none are all
	Headed  bool                   `json:"headed"`            // the titles have been written
	Sums    tabular.Sums           `json:"sums"`              // of the rows that have been written
	At      cardgateway.Checkpoint `json:"at"`
}

// readSaved reads a checkpoint. Nil means that there is none: a list begins.
func readSaved(path string) (*saved, error) {
	text, err := files.ReadBounded(path, 64<<20) // hashes of the rows of the last second, of which there may be many
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Fail(exit.NoAnswer, "--checkpoint cannot be read: %v", err)
	}
	var s saved
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	isHuge := func(at tabular.Sum) bool { return at.Amount.Exponent() < -20 || at.Amount.Exponent() > 20 } // would take all memory to print
	if err := decoder.Decode(&s); err != nil || s.List == "" || !s.From.Before(s.To) || slices.ContainsFunc(s.Sums, isHuge) {
		return nil, exit.Fail(exit.NoAnswer, "--checkpoint %s is not a checkpoint of this program; name another file", path)
	}
	return &s, nil
}

// write replaces the file in one step: it is the old or the new checkpoint at every moment, also after a power failure.
func (s *saved) write(path string) error {
	text, err := json.MarshalIndent(s, "", "\t")
	if err == nil {
		err = files.Replace(path, append(text, '\n'))
	}
	if err != nil {
		return exit.Fail(exit.NoAnswer, "--checkpoint cannot be written: %v", err)
	}
	return nil
}

// differs says in what the checkpoint is one of another list, or nothing.
func (s *saved) differs(now *saved) string {
	for _, d := range []struct{ what, old, new string }{
		{"command", s.List, now.List},
		{"gateway", s.Gateway, now.Gateway},
		{"app-id", string(s.AppID), string(now.AppID)},
		{"zone", s.Zone, now.Zone},
		{"format", s.Format, now.Format},
		{"columns", strings.Join(s.Columns, ","), strings.Join(now.Columns, ",")},
	} {
		if d.old != d.new {
			return fmt.Sprintf("%s was %s and is %s now", d.what, terminal.Clean(d.old), terminal.Clean(d.new))
		}
	}
	switch {
	case !now.From.IsZero() && (!now.From.Equal(s.From) || !now.To.Equal(s.To)):
		return fmt.Sprintf("the range was %s to %s and is %s to %s now; it may be left out",
			terminal.Wall(s.From.In(now.From.Location())), terminal.Wall(s.To.In(now.From.Location())), terminal.Wall(now.From), terminal.Wall(now.To))
	case !maps.Equal(s.Filter, now.Filter):
		return "the ids or states that are asked for are others"
	}
	return ""
}
