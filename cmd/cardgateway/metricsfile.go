package main

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/metrics"
)

// writeMetrics writes --metrics-file: how a command ended, and c.metrics. After a failure it keeps the time of the last success
// in the file. Exit codes 0 and 1 count as success.
func (c *call) writeMetrics(command string, begun time.Time, code int) error {
	path := c.settings.MetricsFile
	if path == "" {
		return nil
	}
	const name = "cardgateway_last_success_timestamp_seconds"
	label := metrics.Label{Name: "command", Value: command}
	now := float64(time.Now().UnixMilli()) / 1e3
	success, ok := now, true
	if code != exit.OK && code != exit.Negative {
		var err error
		if success, ok, err = metrics.Last(path, name, label); err != nil {
			return exit.Fail(exit.Failed, "--metrics-file cannot be read: %v", err)
		}
	}
	gauge := func(name, help string, value float64) metrics.Metric {
		return metrics.Metric{Name: name, Help: help, Label: label, Value: value}
	}
	all := append(slices.Clone(c.metrics),
		gauge("cardgateway_last_run_timestamp_seconds", "When the command last ended.", now),
		gauge("cardgateway_last_run_duration_seconds", "How long the command last took.", time.Since(begun).Seconds()),
		gauge("cardgateway_last_run_exit_code", "Exit code of the command: 0 success, 1 negative result, 2 no result, 3 outcome unknown, 130 interrupted.",
			float64(code)),
	)
	if ok {
		all = append(all, gauge(name, "When the command last ended with exit code 0 or 1.", success))
	}
	if err := metrics.Write(path, all); err != nil {
		return exit.Fail(exit.Failed, "--metrics-file cannot be written: %v", err)
	}
	return nil
}

// checkMetricsFile rejects a file that the collector would not read, a missing directory, and a file of another program, before the command begins.
func (c *call) checkMetricsFile() error {
	path := c.settings.MetricsFile
	if path == "" {
		return nil
	}
	if filepath.Ext(path) != ".prom" {
		return exit.Fail(exit.Failed, "--metrics-file: the name must end with .prom, because the node exporter reads no other files")
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return exit.Fail(exit.Failed, "--metrics-file: there is no directory %s", filepath.Dir(path))
	}
	if foreign, err := metrics.IsForeign(path); err != nil {
		return exit.Fail(exit.Failed, "--metrics-file cannot be read: %v", err)
	} else if foreign {
		return exit.Fail(exit.Failed, "--metrics-file %s was not written by this program; choose another name", path)
	}
	return nil
}
