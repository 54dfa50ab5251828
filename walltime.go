package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/zone"
)

// WallTime is a date and time of day without a zone, as the gateway writes it: the interface names no zone for its
// `YYYY-MM-DD HH:MM:SS` texts. Use In to convert it to an instant in a zone. The zero value means "not given".
// Values can be compared with ==.
type WallTime struct {
	time civil.Time
	set  bool
}

var errWallTime = errors.New("cardgateway: a wall time is YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, without a zone")

// ParseWallTime reads `YYYY-MM-DD HH:MM:SS`, also with a T between the two, or `YYYY-MM-DD` as the start of that day. A
// fraction of a second is dropped. The empty text is the zero WallTime. The error does not quote its input.
func ParseWallTime(s string) (WallTime, error) {
	if s == "" {
		return WallTime{}, nil
	}
	t, ok := civil.Parse(s)
	if !ok {
		return WallTime{}, errWallTime
	}
	return wallTime(t), nil
}

func wallTime(t civil.Time) WallTime { return WallTime{time: t, set: true} }

// civil returns the time, or civil.None for the zero WallTime.
func (w WallTime) civil() civil.Time {
	if !w.set {
		return civil.None
	}
	return w.time
}

// In returns the instant at which a clock in loc shows w. For a time that a clock change repeats it returns one of
// the two instants, and for a time that a clock change skips, the same as time.Date.
func (w WallTime) In(loc *time.Location) time.Time {
	if !w.set {
		return time.Time{}
	}
	return w.time.In(loc)
}

// IsZero reports whether no time was given.
func (w WallTime) IsZero() bool { return !w.set }

// Compare returns -1, 0 or +1 as w is before, equal to or after other on the same clock. The zero WallTime is before every other.
func (w WallTime) Compare(other WallTime) int { return cmp.Compare(w.civil(), other.civil()) }

// String returns `YYYY-MM-DD HH:MM:SS`, or the empty text for the zero WallTime.
func (w WallTime) String() string {
	if !w.set {
		return ""
	}
	return w.time.String()
}

// MarshalText returns what String does.
func (w WallTime) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads what ParseWallTime does.
func (w *WallTime) UnmarshalText(text []byte) (err error) {
	*w, err = ParseWallTime(string(text))
	return err
}

// WrongZone says that Config.Location is not the time zone of the gateway's wall-clock times: the gateway has written a time that a
// clock there does not show. Searches and walks then cover other hours than requested and miss rows.
type WrongZone struct {
	Location string   // the name of Config.Location
	Likely   string   // the zone that explains the time, such as UTC+02:00; "at least UTC+02:00" if that is a row later than now
	At       WallTime // as the gateway wrote it
	Shown    WallTime // what a clock in Location showed then, at the latest
}

// String says it in words.
func (w *WrongZone) String() string {
	return fmt.Sprintf("%s is not the gateway's time zone, which is likely %s: the gateway wrote %v when a clock in %[1]s showed %[4]v",
		w.Location, w.Likely, w.At, w.Shown)
}

// knownZone is what has been learned of Config.Location. All copies of a client share it.
type knownZone struct{ proof atomic.Pointer[zoneProof] }

// zoneProof says that the zone is right, or why it is wrong.
type zoneProof struct{ wrong *WrongZone }

// wrong returns why the zone is known to be wrong, or nil.
func (k *knownZone) wrong() *WrongZone {
	if proof := k.proof.Load(); proof != nil {
		return proof.wrong
	}
	return nil
}

// learnZone learns whether Config.Location is right, from a time that the gateway's clock showed between from and to; a zero from means
// that only to is known. It learns nothing if a clock may be wrong: timestamp, which is the gateway's time at to by another of its
// clocks, must agree with this machine's, unless it is zero. A clock that is behind makes every new row later than now.
//
// Only a payment, whose time is sure, refutes what another one has shown: a row that is later than now may be planned, and a refund may
// be one that was made before. The call is deferred, because the logger may panic, and what it belongs to must end first.
func (c *Client) learnZone(ctx context.Context, at civil.Time, from, to, timestamp time.Time, isPayment bool) {
	known := c.zone.proof.Load()
	isRight := known != nil && known.wrong == nil
	if at == civil.None || !timestamp.IsZero() && to.Sub(timestamp).Abs() > zone.Tolerance || !isPayment && isRight {
		return
	}
	found, likely := zone.Judge(at, from, to, c.cfg.Location)
	switch {
	case found == zone.Right && !isRight:
		c.zone.proof.Store(new(zoneProof))
	case found == zone.Wrong:
		name, shown := zone.Name(likely), wallTime(civil.Of(to, c.cfg.Location))
		if from.IsZero() {
			name = "at least " + name
		}
		wrong := &WrongZone{Location: c.cfg.Location.String(), Likely: name, At: wallTime(at), Shown: shown}
		before := c.zone.proof.Swap(&zoneProof{wrong})
		if c.cfg.Logger != nil && (before == nil || before.wrong == nil) {
			c.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "cardgateway zone", slog.String("warning", wrong.String()))
		}
	}
}

// rowsLaterThanNow returns a search for rows that prove that the zone is wrong, or nil if something is known of it.
func (c *Client) rowsLaterThanNow() *search {
	if from, to := zone.Ahead(time.Now(), c.cfg.Location); c.zone.proof.Load() == nil && from < to {
		return writeSearch(nil, from, to, PageRequest{})
	}
	return nil
}
