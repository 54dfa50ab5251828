package books

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// copyPart copies a range into a schema of its own, and returns the name of the schema.
func copyPart(t *testing.T, client *cardgateway.Client, from, to time.Time) (schema string) {
	t.Helper()
	name := postgresURL(t)
	b, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	now := to.Add(-time.Second) // the walk reads to its end
	mustSync(t, b, SyncOptions{Client: client, From: from, Now: func() time.Time { return now }})
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("search_path")
}

func hasSchema(t *testing.T, b *Books, name string) (has bool) {
	t.Helper()
	err := b.db.QueryRowContext(t.Context(), `SELECT count(*) > 0 FROM information_schema.schemata WHERE schema_name = $1`, name).Scan(&has)
	if err != nil {
		t.Fatal(err)
	}
	return has
}

// TestMoveFrom: books into which parts were moved are those that were copied at once, and can go on.
func TestMoveFrom(t *testing.T) {
	server := gateway(t, sandbox.Options{})
	client := clientOf(t, server)
	from := time.Now().AddDate(0, -3, 0).Truncate(time.Second)
	server.Seed(3000, from, time.Now())
	first, second := from.AddDate(0, 1, 0), from.AddDate(0, 2, 0)
	b := open(t, postgresURL(t))
	for _, part := range []struct{ from, to time.Time }{{from, first}, {first.AddDate(0, 0, -3), second}} { // three days are in both
		schema := copyPart(t, client, part.from, part.to)
		exec(t, b, `INSERT INTO `+schema+`.cardgateway_changes VALUES ('orders', '1', 'late', '', '', 1)`)
		exec(t, b, `UPDATE cardgateway_orders SET amount = '1' WHERE at >= $1`, part.from.UnixMicro()) // the part has another one
		if err := b.MoveFrom(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		if info, err := b.Info(t.Context()); err != nil || !info.CompleteUpTo.Equal(part.to) || !info.Since.Equal(from) {
			t.Errorf("got %+v, %v; want it complete from %v to %v", info, err, from, part.to)
		}
		if at, err := b.position(t.Context(), ordersKind); err != nil || at.underWay() {
			t.Errorf("got the position %+v, %v; want no walk under way", at, err)
		}
		if hasSchema(t, b, schema) {
			t.Errorf("the schema %s is still there", schema)
		}
	}
	if got := what(t, b)["orders late"]; got != 2 {
		t.Errorf("got %d changes, want those of both parts", got)
	}
	if report := mustSync(t, b, SyncOptions{Client: client}); report.Changed != 0 || report.Late != 0 {
		t.Errorf("got %+v, want nothing changed", report)
	}
	wantFresh(t, b, client, from)
}

// TestMoveFromGone: after a part was moved, the next sync finds which rows the gateway no longer returns, of the part and of the
// others, however many walks each of the two copies has made.
func TestMoveFromGone(t *testing.T) {
	for _, test := range []struct {
		name      string
		own, part int // numbers of the last walks
	}{{"more walks of the copy", 5, 1}, {"more walks of the part", 1, 5}} {
		t.Run(test.name, func(t *testing.T) {
			server := gateway(t, sandbox.Options{})
			client := clientOf(t, server)
			to := time.Now().Add(-time.Hour).Truncate(time.Second)
			from, middle := to.AddDate(0, 0, -3), to.AddDate(0, 0, -1) // the sync reads 48 hours again
			server.Seed(200, from, to)
			b := open(t, postgresURL(t))
			walked := func(schema string, number int, goneAt time.Time) {
				exec(t, b, fmt.Sprintf(`UPDATE %s.cardgateway_walks SET number = %d`, schema, number))
				exec(t, b, fmt.Sprintf(`UPDATE %s.cardgateway_orders SET walk = %d`, schema, number))
				exec(t, b, fmt.Sprintf(`INSERT INTO %s.cardgateway_orders SELECT 'gone' || id, unique_id, transaction_id, state, code, amount, currency,
					%d, card, other_app, test, walk FROM %[1]s.cardgateway_orders LIMIT 1`, schema, goneAt.UnixMicro()))
			}
			for _, part := range []struct {
				from, to time.Time
				number   int
			}{{from, middle, test.own}, {middle, to, test.part}} {
				schema := copyPart(t, client, part.from, part.to)
				walked(schema, part.number, part.to.Add(-time.Hour))
				if err := b.MoveFrom(t.Context(), schema); err != nil {
					t.Fatal(err)
				}
			}
			if report := mustSync(t, b, SyncOptions{Client: client}); report.Gone != 2 {
				t.Errorf("got %+v, want one gone of each part", report)
			}
			wantFresh(t, b, client, from)
		})
	}
}

// TestMoveFromRefused: what does not belong to the books is not moved.
func TestMoveFromRefused(t *testing.T) {
	server := gateway(t, sandbox.Options{})
	to := time.Now().AddDate(0, 0, -1).Truncate(time.Second)
	from := to.AddDate(0, 0, -10)
	middle := from.AddDate(0, 0, 5)
	server.Seed(100, from, to)
	own := clientOf(t, server)
	with := func(c cardgateway.Config) *cardgateway.Client {
		client, err := cardgateway.New(c)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	for _, test := range []struct {
		name   string
		client *cardgateway.Client
		from   time.Time
		want   string
	}{
		{"another gateway", clientOf(t, gateway(t, sandbox.Options{})), middle, "another gateway"},
		{"another app", with(cardgateway.Config{BaseURL: server.URL, AppID: "8"}), middle, "another gateway or app"},
		{"another zone", with(cardgateway.Config{BaseURL: server.URL, AppID: "7", Location: time.UTC}), middle, "another zone"},
		{"a gap", own, middle.Add(time.Second), "begins after the end"},
		{"none", own, middle, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := open(t, postgresURL(t))
			if err := b.MoveFrom(t.Context(), copyPart(t, own, from, middle)); err != nil {
				t.Fatal(err)
			}
			before := dump(t, b)
			schema := copyPart(t, test.client, test.from, to)
			err := b.MoveFrom(t.Context(), schema)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, ok := errors.AsType[*Refused](err); !ok || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want that it is refused: %s", err, test.want)
			}
			if len(dump(t, b)) != len(before) || !hasSchema(t, b, schema) {
				t.Error("the part was moved")
			}
		})
	}
	t.Run("SQLite", func(t *testing.T) {
		err := open(t, filepath.Join(t.TempDir(), "books.db")).MoveFrom(t.Context(), "part")
		if _, ok := errors.AsType[*Refused](err); !ok {
			t.Errorf("got %v, want that it is refused", err)
		}
	})
}
