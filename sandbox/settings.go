package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

// The control API reads and writes settings by the JSON tags of Fault, Search, SeedOptions and Options. A duration is a text
// such as "1.5s": each type below embeds one of them and points to its durations, whose names hide the embedded ones.

type faultJSON struct {
	*Fault
	For    *duration `json:"for"`
	Before *duration `json:"before"`
	Late   *duration `json:"late"`
	After  *duration `json:"after"`
}

func (f *Fault) json() faultJSON {
	return faultJSON{f, (*duration)(&f.For), (*duration)(&f.Before), (*duration)(&f.Late), (*duration)(&f.After)}
}

type searchJSON struct {
	*Search
	Lag            *duration `json:"lag"`
	Latency        *duration `json:"latency"`
	MaxRange       *duration `json:"maxRange"`
	BusyRetryAfter *duration `json:"busyRetryAfter"`
}

func (s *Search) json() searchJSON {
	return searchJSON{s, (*duration)(&s.Lag), (*duration)(&s.Latency), (*duration)(&s.MaxRange), (*duration)(&s.BusyRetryAfter)}
}

type optionsJSON struct {
	*Options
	SecretKey          string            `json:"secretKey"` // only whether there is one
	Location           string            `json:"location"`
	SettleAfter        *duration         `json:"settleAfter"`
	SettlePendingAfter *duration         `json:"settlePendingAfter"`
	RefundSettleAfter  *duration         `json:"refundSettleAfter"`
	Search             searchJSON        `json:"search"`
	Notifications      notificationsJSON `json:"notifications"`
}

type notificationsJSON struct {
	*Notifications
	Delay *duration `json:"delay"`
}

func (o *Options) json() optionsJSON {
	return optionsJSON{
		Options: o, SecretKey: map[bool]string{true: "set"}[o.SecretKey != ""], Location: o.Location.String(),
		SettleAfter: (*duration)(&o.SettleAfter), SettlePendingAfter: (*duration)(&o.SettlePendingAfter),
		RefundSettleAfter: (*duration)(&o.RefundSettleAfter), Search: o.Search.json(),
		Notifications: notificationsJSON{&o.Notifications, (*duration)(&o.Notifications.Delay)},
	}
}

// duration is a time.Duration as a text.
type duration time.Duration

func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

var errDuration = errors.New(`not a duration such as "1.5s"`)

func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return errDuration
	}
	*d = duration(parsed)
	return nil
}

// decodeFault reads a Fault, or the name of a predefined one with members that change it. The slow ones of these take that
// long.
func decodeFault(data []byte, slow time.Duration) (Fault, error) {
	var f Fault
	decode := func() (name string, err error) {
		in := struct {
			Name string `json:"name"`
			faultJSON
		}{faultJSON: f.json()}
		err = decodeSettings(data, &in)
		return in.Name, err
	}
	name, err := decode()
	if err == nil && name != "" {
		all := Faults(slow)
		i := slices.IndexFunc(all, func(n NamedFault) bool { return n.Name == name })
		if i < 0 {
			return f, console.Invalid(fmt.Sprintf("there is no fault named %.60q; GET %sapi/v1/faults/names lists them", name, console.Path))
		}
		f = all[i].Fault
		_, err = decode() // once more, over the predefined one
	}
	if err == nil {
		if wrong := f.check(); wrong != nil {
			err = console.Invalid(wrong.Error())
		}
	}
	return f, err
}

// decodeSettings reads a JSON object into a struct.
func decodeSettings(data []byte, into any) error {
	if _, err := jsonobject.Members(data); err != nil {
		return console.Invalid(err.Error())
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		return nil
	}
	text := err.Error()
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		path := strings.Split(wrong.Field, ".")
		text = fmt.Sprintf("%s: a JSON %s, which does not fit", path[len(path)-1], wrong.Value)
		if wrong.Type == reflect.TypeFor[*duration]() {
			text = path[len(path)-1] + ": " + errDuration.Error()
		}
	} else if name, ok := strings.CutPrefix(text, "json: unknown field "); ok {
		text = params.Unknown(strings.Trim(name, `"`), memberNames(into)).Error()
	}
	return console.Invalid(text)
}

// memberNames returns the names of the members of a struct in JSON.
func memberNames(v any) []string {
	data, _ := json.Marshal(v) // of settings, which always can be marshalled
	members, _ := jsonobject.Members(data)
	return slices.Collect(maps.Keys(members))
}
