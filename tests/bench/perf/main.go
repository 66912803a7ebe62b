// perf plays one workload of upstream's scheduler_perf to one scheduler, and measures it from outside.
//
//	perf cases --from DIR ...                      what there is, and what of it can be played
//	perf run --from DIR ... --case NAME -- CMD...  one run; the result is JSON on stdout
//	perf prepare --from DIR ... --case NAME        what comes before the clock, once for several runs
//	perf ceiling --kubeconfig FILE                 the scheduler that decides nothing
//
// The API server is somebody else's; perf starts and stops the scheduler alone.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
)

func main() {
	debug.SetGCPercent(400) // memory is cheaper here than the cores that are shared with the measured
	commands := map[string]func([]string) error{"run": runMain, "prepare": prepareMain, "ceiling": ceilingMain, "cases": casesMain}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: perf cases|prepare|run|ceiling ...")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "perf %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// casesMain prints every case with its parameters at a size, or why it cannot be played.
func casesMain(arguments []string) error {
	flags := flag.NewFlagSet("cases", flag.ExitOnError)
	var from []string
	flags.Func("from", "a folder of cases; may be repeated", func(folder string) error {
		from = append(from, folder)
		return nil
	})
	nodes := flags.Int("nodes", 0, "scale to this many nodes")
	release := flags.String("release", firstRelease, "of Kubernetes, whose cases these are")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	cases, err := readCases(from...)
	if err != nil {
		return err
	}
	type row struct {
		Name      string              `json:"name"`
		Workloads []string            `json:"workloads"`
		Gates     map[string][]string `json:"gates"` // of each workload
		Refused   string              `json:"refused,omitempty"`
		Workload  string              `json:"workload,omitempty"`
		Staged    bool                `json:"staged,omitempty"`
		Profiles  json.RawMessage     `json:"profiles,omitempty"` // of the scheduler's configuration
		Params    map[string]int      `json:"params,omitempty"`
	}
	var rows []row
	for i := range cases {
		one := row{Name: cases[i].Name, Refused: cases[i].refusal(), Gates: map[string][]string{}}
		for _, workload := range cases[i].Workloads {
			one.Workloads = append(one.Workloads, workload.Name)
			one.Gates[workload.Name] = cases[i].gates(&workload)
		}
		if one.Refused == "" {
			chosen, err := choose(cases, one.Name, *release, *nodes, nil)
			if err != nil {
				return err
			}
			one.Workload, one.Params, one.Staged = chosen.Workload, chosen.Params, chosen.Staged
			if one.Profiles, err = cases[i].profiles(); err != nil {
				return err
			}
		}
		rows = append(rows, one)
	}
	return json.NewEncoder(os.Stdout).Encode(rows)
}
