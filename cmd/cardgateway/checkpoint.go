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

// saved is the content of a --checkpoint file. It contains no rows and no secrets.
type saved struct {
	List    string                 `json:"list"` // orders or refunds
	Gateway string                 `json:"gateway"`
	AppID   cardgateway.AppID      `json:"appId"`
	Zone    string                 `json:"zone"`
	From    time.Time              `json:"from"`
	To      time.Time              `json:"to"`
	Filter  map[string]string      `json:"filter,omitempty"` // --state and the id flags
	Format  string                 `json:"format"`
	Headed  bool                   `json:"headed"` // the header line has been written
	Sums    tabular.Sums           `json:"sums"`   // of the rows that have been written
	At      cardgateway.Checkpoint `json:"at"`
}

// readSaved reads a checkpoint. It returns nil if there is no file, or no path: a new list begins.
func readSaved(path string) (*saved, error) {
	if path == "" {
		return nil, nil
	}
	text, err := files.ReadBounded(path, 64<<20) // contains a hash of each row of the last second
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, exit.Fail(exit.Failed, "--checkpoint cannot be read: %v", err)
	}
	var s saved
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	isHuge := func(at tabular.Sum) bool { return at.Amount.Exponent() < -20 || at.Amount.Exponent() > 20 } // printing it would take all memory
	if err := decoder.Decode(&s); err != nil || s.List == "" || !s.From.Before(s.To) || slices.ContainsFunc(s.Sums, isHuge) {
		return nil, exit.Fail(exit.Failed, "--checkpoint %s is not a checkpoint of this program; choose another file", path)
	}
	return &s, nil
}

// write replaces the file atomically: even after a power failure it is the old or the new checkpoint.
func (s *saved) write(path string) error {
	text, err := json.MarshalIndent(s, "", "\t")
	if err == nil {
		err = files.Replace(path, append(text, '\n'))
	}
	if err != nil {
		return exit.Fail(exit.Failed, "--checkpoint cannot be written: %v", err)
	}
	return nil
}

// differs describes the first difference between the list of the checkpoint and that of now. It returns an empty text if there
// is none.
func (s *saved) differs(now *saved) string {
	for _, d := range []struct{ what, old, new string }{
		{"command", s.List, now.List},
		{"gateway", s.Gateway, now.Gateway},
		{"app-id", string(s.AppID), string(now.AppID)},
		{"zone", s.Zone, now.Zone},
		{"format", s.Format, now.Format},
	} {
		if d.old != d.new {
			return fmt.Sprintf("%s was %s and is %s now", d.what, d.old, d.new)
		}
	}
	switch {
	case !now.From.IsZero() && (!now.From.Equal(s.From) || !now.To.Equal(s.To)):
		return fmt.Sprintf("the range was %s to %s and is %s to %s now; you can omit it",
			terminal.Wall(s.From.In(now.From.Location())), terminal.Wall(s.To.In(now.From.Location())), terminal.Wall(now.From), terminal.Wall(now.To))
	case !maps.Equal(s.Filter, now.Filter):
		return "the ids or states are different"
	}
	return ""
}
