package zone_test

import (
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/zone"
)

func TestJudge(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	east, west := time.FixedZone("UTC+8", 8*3600), time.FixedZone("UTC-3", -3*3600)
	now := time.Date(2026, 10, 25, 1, 10, 0, 0, time.UTC) // 02:10 in Berlin, ten minutes after its clock was set back from 03:00
	for _, tt := range []struct {
		name, at   string
		past, took time.Duration // from is so long before now, and to so long after from; a negative past means no from
		loc        *time.Location
		want       zone.Finding
		likely     string
	}{
		{"the same second", "2026-10-25 09:10:00", 0, 0, east, zone.Right, ""},
		{"a minute late", "2026-10-25 09:11:00", 0, 30 * time.Second, east, zone.Right, ""},
		{"in UTC", "2026-10-25 01:10:05", 0, 10 * time.Second, east, zone.Wrong, "UTC+00:00"},
		{"in India", "2026-10-25 06:39:00", 0, 10 * time.Second, east, zone.Wrong, "UTC+05:30"},
		{"half an hour west", "2026-10-25 08:40:00", 0, 10 * time.Second, east, zone.Wrong, "UTC+07:30"},
		{"in the west", "2026-10-24 21:40:00", 0, 0, east, zone.Wrong, "UTC-03:30"},
		{"the furthest east", "2026-10-25 15:10:00", 0, 0, west, zone.Wrong, "UTC+14:00"},
		{"the furthest west", "2026-10-24 13:10:00", 0, 0, east, zone.Wrong, "UTC-12:00"},
		{"no zone is so far", "2026-10-25 16:10:00", 0, 0, east, zone.Unknown, ""},
		{"no zone has such minutes", "2026-10-25 01:17:00", 0, 0, east, zone.Unknown, ""},
		{"months ago", "2026-06-01 00:00:00", 0, 0, east, zone.Unknown, ""},
		{"before a clock change", "2026-10-25 02:58:00", 13 * time.Minute, 30 * time.Second, berlin, zone.Right, ""},
		{"after a clock change", "2026-10-25 02:10:00", 20 * time.Minute, 20 * time.Minute, berlin, zone.Unknown, ""},
		{"no change yet", "2026-10-25 03:10:00", 0, 0, berlin, zone.Wrong, "UTC+02:00"},
		{"hours of uncertainty", "2026-10-25 07:00:00", 6 * time.Hour, 6 * time.Hour, east, zone.Unknown, ""},
		{"before it was sent", "2026-10-25 00:40:30", 6 * time.Hour, 6 * time.Hour, east, zone.Wrong, "UTC+05:30"},
		{"22 minutes before it was sent", "2026-10-25 02:48:00", 6 * time.Hour, 6 * time.Hour, east, zone.Unknown, ""},
		{"a quarter of an hour before it was sent", "2026-10-24 15:56:30", 6 * time.Hour, 6 * time.Hour, west, zone.Unknown, ""},
		{"half an hour before it was sent", "2026-10-24 15:41:30", 6 * time.Hour, 6 * time.Hour, west, zone.Unknown, ""},
		{"three quarters of an hour before it was sent", "2026-10-24 15:26:30", 6 * time.Hour, 6 * time.Hour, west, zone.Unknown, ""},
		{"an hour before it was sent", "2026-10-24 15:11:30", 6 * time.Hour, 6 * time.Hour, west, zone.Wrong, "UTC-04:00"},
		{"in Nepal", "2026-10-25 06:55:00", 0, 10 * time.Second, east, zone.Wrong, "UTC+05:45"},
		{"minutes after it was sent, and later than now", "2026-10-25 03:00:00", 20 * time.Minute, 20 * time.Minute, time.UTC, zone.Wrong, "UTC+02:00"},
		{"later than now", "2026-10-25 02:10:00", -1, 0, time.UTC, zone.Wrong, "UTC+01:00"},
		{"much later than now", "2026-10-25 15:00:00", -1, 0, west, zone.Wrong, "UTC+14:00"},
		{"later than any zone", "2026-10-25 16:00:00", -1, 0, west, zone.Unknown, ""},
		{"not later than now", "2026-10-25 09:10:00", -1, 0, east, zone.Unknown, ""},
		{"long before now", "2020-01-01 00:00:00", -1, 0, east, zone.Unknown, ""},
		{"later than now, before a clock change", "2026-10-25 02:50:00", -1, 0, berlin, zone.Unknown, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, _ := civil.Parse(tt.at)
			from, to := now.Add(-tt.past), now.Add(tt.took-max(tt.past, 0))
			if tt.past < 0 {
				from = time.Time{}
			}
			got, likely := zone.Judge(at, from, to, tt.loc)
			if got != tt.want || got == zone.Wrong && zone.Name(likely) != tt.likely {
				t.Errorf("got %v and %s, want %v and %s", got, zone.Name(likely), tt.want, tt.likely)
			}
		})
	}
}

// TestAhead: in whatever zone the client and the gateway are, the search has what the gateway's clock shows now, if that is later.
func TestAhead(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for client := -12; client <= 14; client++ {
		from, to := zone.Ahead(now, time.FixedZone("", client*3600))
		for gateway := client + 1; gateway <= 14; gateway++ {
			if at := civil.Of(now, time.FixedZone("", gateway*3600)); at < from || at > to {
				t.Errorf("client UTC%+d, gateway UTC%+d: %v is not between %v and %v", client, gateway, at, from, to)
			}
		}
	}
}
