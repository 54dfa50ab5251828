package sandbox

import (
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

// The control API reads faults and shows settings by the JSON tags of Fault, Search and Options. A duration is a text
// such as "1.5s": each type below embeds one of them and points to its durations, whose names hide the embedded ones.

type duration = params.Duration

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
	SecretKey         string            `json:"secretKey"` // only whether there is one
	Location          string            `json:"location"`
	SettleAfter       *duration         `json:"settleAfter"`
	RefundSettleAfter *duration         `json:"refundSettleAfter"`
	Search            searchJSON        `json:"search"`
	Notifications     notificationsJSON `json:"notifications"`
}

type notificationsJSON struct {
	*Notifications
	Delay *duration `json:"delay"`
}

func (o *Options) json() optionsJSON {
	return optionsJSON{
		Options: o, SecretKey: map[bool]string{true: "set"}[o.SecretKey != ""], Location: o.Location.String(),
		SettleAfter:       (*duration)(&o.SettleAfter),
		RefundSettleAfter: (*duration)(&o.RefundSettleAfter), Search: o.Search.json(),
		Notifications: notificationsJSON{&o.Notifications, (*duration)(&o.Notifications.Delay)},
	}
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
		if err = params.Decode(data, &in); err != nil {
			err = console.Invalid(err.Error())
		}
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
