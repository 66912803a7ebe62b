package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Candidate is the scheduler under test: a command line in a session of its own, and every process
// in that session.
type Candidate struct {
	command *exec.Cmd
	ended   chan struct{}

	mutex            sync.Mutex
	pids             []int
	scanned          time.Time
	peakPSS, peakRSS int64 // KiB over all processes at one time
	peakCount        int
	stopped          bool
	stopping         chan struct{}
}

const ticksPerSecond = 100 // USER_HZ, which Linux has fixed for programs

// startCandidate starts the command, its output in a file.
func startCandidate(arguments []string, log string) (*Candidate, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	c := &Candidate{command: exec.Command(arguments[0], arguments[1:]...), ended: make(chan struct{}),
		stopping: make(chan struct{})}
	c.command.Stdout, c.command.Stderr = output, output
	c.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.command.Wait()
		close(c.ended)
	}()
	go c.watchMemory()
	return c, nil
}

func (c *Candidate) alive() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// statFields are the fields of /proc/PID/stat after the name, nil when the process is gone.
func statFields(pid int) [][]byte {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
}

// members are the living processes of the session.
func (c *Candidate) members() []int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if time.Since(c.scanned) < time.Second {
		return c.pids
	}
	session := strconv.Itoa(c.command.Process.Pid)
	c.pids = nil
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if fields := statFields(pid); fields != nil && string(fields[3]) == session {
			c.pids = append(c.pids, pid)
		}
	}
	c.scanned = time.Now()
	return c.pids
}

// cpuSeconds of processes, with those of their children that have ended.
func cpuSeconds(pids []int) float64 {
	ticks := 0
	for _, pid := range pids {
		if fields := statFields(pid); fields != nil {
			for _, field := range fields[11:15] {
				value, _ := strconv.Atoi(string(field))
				ticks += value
			}
		}
	}
	return float64(ticks) / ticksPerSecond
}

// threadTimes of processes: how long their threads were ready to run while others had the processors, and how
// often one was given a processor. Of threads that have ended nothing is left.
type threadTimes struct{ delay, turns float64 }

func timesOfThreads(pids []int) (all threadTimes) {
	for _, pid := range pids {
		paths, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/schedstat")
		for _, path := range paths {
			text, _ := os.ReadFile(path)
			if fields := strings.Fields(string(text)); len(fields) == 3 { // running, waiting, turns
				delay, _ := strconv.ParseFloat(fields[1], 64)
				turns, _ := strconv.ParseFloat(fields[2], 64)
				all.delay, all.turns = all.delay+delay/1e9, all.turns+turns
			}
		}
	}
	return all
}

func (c *Candidate) cpu() float64 { return cpuSeconds(c.members()) }

// memory of a process in KiB: its share of what is resident, and all that is resident.
func memory(pid int) (pss, rss int64) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/smaps_rollup")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "Pss:" {
			pss, _ = strconv.ParseInt(fields[1], 10, 64)
		}
		if len(fields) == 3 && fields[0] == "Rss:" {
			rss, _ = strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return pss, rss
}

func (c *Candidate) sampleMemory() {
	var pss, rss int64
	pids := c.members()
	for _, pid := range pids {
		p, r := memory(pid)
		pss, rss = pss+p, rss+r
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.peakPSS, c.peakRSS = max(c.peakPSS, pss), max(c.peakRSS, rss)
	c.peakCount = max(c.peakCount, len(pids))
}

func (c *Candidate) watchMemory() {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.sampleMemory()
		case <-c.stopping:
			return
		}
	}
}

// stop asks politely, and then ends every process of the session that is left.
func (c *Candidate) stop() {
	if c.stopped {
		return
	}
	c.stopped = true
	close(c.stopping)
	_ = c.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(15 * time.Second):
	}
	for range 50 {
		c.mutex.Lock()
		c.scanned = time.Time{}
		c.mutex.Unlock()
		left := slices.DeleteFunc(slices.Clone(c.members()), func(pid int) bool {
			fields := statFields(pid)
			return fields == nil || string(fields[0]) == "Z"
		})
		if len(left) == 0 {
			break
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(20 * time.Millisecond)
	}
	<-c.ended
}

// allowedCPUs reads the list of processors that we may run on, as "0-1,4".
func allowedCPUs(status string) map[string]bool {
	allowed := map[string]bool{}
	_, list, _ := strings.Cut(status, "Cpus_allowed_list:")
	list, _, _ = strings.Cut(list, "\n")
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		low, high, several := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if several {
			last, _ = strconv.Atoi(high)
		}
		for cpu := first; err == nil && cpu <= last; cpu++ {
			allowed["cpu"+strconv.Itoa(cpu)] = true
		}
	}
	return allowed
}

// busyTicks adds up what anybody has used of these processors, or what their host took away.
func busyTicks(stat string, allowed map[string]bool) int {
	ticks := 0
	for line := range strings.Lines(stat) {
		columns := strings.Fields(line)
		if len(columns) < 9 || !allowed[columns[0]] {
			continue
		}
		for at, column := range columns[1:9] {
			if value, err := strconv.Atoi(column); err == nil && at != 3 && at != 4 { // not idle, not iowait
				ticks += value
			}
		}
	}
	return ticks
}

var allowed = sync.OnceValue(func() map[string]bool {
	status, _ := os.ReadFile("/proc/self/status")
	return allowedCPUs(string(status))
})

// machineCPU is the CPU time that anybody has used on the processors that are ours to use.
func machineCPU() float64 {
	stat, _ := os.ReadFile("/proc/stat")
	return float64(busyTicks(string(stat), allowed())) / ticksPerSecond
}

// settle waits until what `used` measures stands nearly still, at most `limit`.
func settle(limit time.Duration, used func() float64) {
	const step = 300 * time.Millisecond
	deadline := time.Now().Add(limit)
	before := used()
	for time.Now().Before(deadline) {
		time.Sleep(step)
		after := used()
		if after-before < 0.1*step.Seconds() {
			return
		}
		before = after
	}
}

func ownCPU() float64 { return cpuSeconds([]int{os.Getpid()}) }
