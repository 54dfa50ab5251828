package faults

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestSpeed measures one row, for a profile: CARDGATEWAY_SPEED is the number of callers.
func TestSpeed(t *testing.T) {
	callers, err := strconv.Atoi(os.Getenv("CARDGATEWAY_SPEED"))
	if err != nil {
		t.Skip("this is a measurement: set CARDGATEWAY_SPEED to a number of callers")
	}
	everyStore(t, func(t *testing.T, spec string) {
		row, err := Speed(filepath.Base(t.Name()), spec, callers, 6*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		PrintSpeed(os.Stdout, []*SpeedRow{row})
	})
}

// TestSpeedFarAway measures payments a second with 64 callers, a pool of ten connections, and a database 1 ms away.
func TestSpeedFarAway(t *testing.T) {
	if os.Getenv("CARDGATEWAY_SPEED") == "" {
		t.Skip("this is a measurement: set CARDGATEWAY_SPEED")
	}
	everyServer(t, func(t *testing.T, spec string, _ journal.Store) {
		socket := regexp.MustCompile(`unix\((.*?)\)`).FindStringSubmatch(spec)
		if socket == nil {
			dir, err := url.QueryUnescape(regexp.MustCompile(`host=([^&]*)`).FindStringSubmatch(spec)[1])
			if err != nil {
				t.Fatal(err)
			}
			far := filepath.Dir(farAway(t, filepath.Join(dir, ".s.PGSQL.5432"), 500*time.Microsecond))
			spec = strings.Replace(spec, url.QueryEscape(dir), url.QueryEscape(far), 1)
		} else {
			spec = strings.Replace(spec, socket[1], farAway(t, socket[1], 500*time.Microsecond), 1)
		}
		db, d := openDB(t, spec), databaseFor(t, spec)
		db.SetMaxOpenConns(10)
		db.SetMaxIdleConns(10)
		store, err := sqlstore.New(t.Context(), db, d.dialect)
		if err != nil {
			t.Fatal(err)
		}
		c, err := startChild(&task{Role: "instant"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.cmd.Process.Kill() }()
		_, gateway, _ := c.next()
		client, err := cardgateway.New(cardgateway.Config{BaseURL: gateway, AppID: "7", HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}})
		if err != nil {
			t.Fatal(err)
		}
		const long = 6 * time.Second
		begun := time.Now()
		all, err := payFor(journal.New(client, store, journal.Options{}), 64, long, "far")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%.0f payments a second", float64(len(all))/time.Since(begun).Seconds())
	})
}

// farAway returns the path of a socket that leads to another one, with a delay in each direction.
func farAway(t *testing.T, socket string, delay time.Duration) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "far") // short: the path of a socket is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, filepath.Base(socket))
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	carry := func(to, from net.Conn) {
		defer to.Close()
		for buffer := make([]byte, 64<<10); ; {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			time.Sleep(delay)
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("unix", socket)
			if err != nil {
				_ = near.Close()
				continue
			}
			go carry(far, near)
			go carry(near, far)
		}
	}()
	return path
}
