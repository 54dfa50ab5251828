// Command ratios reads the output of this module's benchmarks and prints, for every scenario, what each client needs in
// relation to code written by hand, or to the first client if there is none: the median of the ratios of the rounds, in
// each of which the clients ran in sequence.
//
//	ratios raw/*.txt
package main

import (
	"fmt"
	"log"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("ratios: ")
	scenarios, err := read(os.Args[1:])
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scenarios {
		s.print()
	}
}

// scenario is a benchmark of several clients.
type scenario struct {
	name    string
	clients []string // the others are compared with the first
	rounds  map[string][]map[string]float64
}

// byHand is the client with which the others are compared.
const byHand = "hand"

// units are the units for which ratios are printed.
var units = []string{"cpu-ns/op", "ns/op", "B/op", "allocs/op", "peak-B", "binary-B"}

// read gets the clients of a scenario from the names of its benchmarks, which have the form Name/key=value/client=name.
func read(files []string) (scenarios []*scenario, err error) {
	byName := map[string]*scenario{}
	input := benchfmt.Files{Paths: files}
	for input.Scan() {
		result, ok := input.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		full, _ := result.Name.Parts()
		name, client, ok := strings.Cut(result.Name.String(), "/client=")
		if !ok {
			return nil, fmt.Errorf("benchmark %s names no client", full)
		}
		if at := strings.LastIndexByte(client, '-'); at > 0 && strings.Trim(client[at+1:], "0123456789") == "" {
			client = client[:at] // the number of processors
		}
		s := byName[name]
		if s == nil {
			s = &scenario{name: name, rounds: map[string][]map[string]float64{}}
			byName[name] = s
			scenarios = append(scenarios, s)
		}
		if !slices.Contains(s.clients, client) {
			at := len(s.clients)
			if client == byHand {
				at = 0
			}
			s.clients = slices.Insert(s.clients, at, client)
		}
		values := map[string]float64{}
		for _, v := range result.Values {
			unit, value := v.OrigUnit, v.OrigValue
			if unit == "" {
				unit, value = v.Unit, v.Value
			}
			values[unit] = value
		}
		s.rounds[client] = append(s.rounds[client], values)
	}
	return scenarios, input.Err()
}

// ratio returns the median of a client's ratios to the first client, and their quartiles. It is 0 if the unit was not
// measured.
func (s *scenario) ratio(client, unit string) (median, low, high float64) {
	var ratios []float64
	for i, base := range s.rounds[s.clients[0]] {
		if i < len(s.rounds[client]) && base[unit] > 0 {
			ratios = append(ratios, s.rounds[client][i][unit]/base[unit])
		}
	}
	return quantile(ratios, 0.5), quantile(ratios, 0.25), quantile(ratios, 0.75)
}

// median returns the median of a client's values.
func (s *scenario) median(client, unit string) float64 {
	var values []float64
	for _, v := range s.rounds[client] {
		values = append(values, v[unit])
	}
	return quantile(values, 0.5)
}

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	at := q * float64(len(values)-1)
	low := int(at)
	high := min(low+1, len(values)-1)
	return values[low] + (at-float64(low))*(values[high]-values[low])
}

// print writes a table in Markdown.
func (s *scenario) print() {
	fmt.Printf("\n### %s, %d rounds\n\n| client |", s.name, len(s.rounds[s.clients[0]]))
	var shown []string
	for _, unit := range units {
		if s.median(s.clients[0], unit) > 0 {
			shown = append(shown, unit)
			fmt.Printf(" %s | ratio |", unit)
		}
	}
	fmt.Printf(" conns/op |\n|---|%s\n", strings.Repeat("---|", 2*len(shown)+1))
	for _, client := range s.clients {
		fmt.Printf("| %s |", client)
		for _, unit := range shown {
			median, low, high := s.ratio(client, unit)
			fmt.Printf(" %.0f | %.3g (%.3g to %.3g) |", s.median(client, unit), median, low, high)
		}
		fmt.Printf(" %.3g |\n", s.median(client, "conns/op"))
	}
}
