package berth

import (
	"context"
	"path/filepath"
	"sync"
	"time"
)

// Heard is one frame: who mirrored it and when, what stands beside the message, and the message as a pointer to its
// struct; nil if it cannot be read.
type Heard struct {
	Tapped   Tapped
	Envelope Envelope
	Message  any
}

// Tap calls hear, one frame at a time, for what berth's processes say to each other, until the context ends. The place is
// a run directory: all its processes are listened to, those that come later as well. Each frame between two processes is
// heard twice, of him who sends it and of him who gets it (Tapped.Sent). Who is too slow misses frames; a jump in
// Tapped.TapSequence shows it.
func Tap(ctx context.Context, runDir string, hear func(Heard)) {
	var turn sync.Mutex
	var running sync.WaitGroup
	defer running.Wait()
	known := map[string]bool{}
	for ctx.Err() == nil {
		paths, _ := filepath.Glob(filepath.Join(runDir, "*.tap"))
		for _, path := range paths {
			if known[path] {
				continue
			}
			known[path] = true
			running.Add(1)
			go func() {
				defer running.Done()
				for ctx.Err() == nil {
					listen(ctx, path, &turn, hear)
					select {
					case <-time.After(pause):
					case <-ctx.Done():
					}
				}
			}()
		}
		select {
		case <-time.After(5 * pause):
		case <-ctx.Done():
		}
	}
}

// listen ends with the connection.
func listen(ctx context.Context, path string, turn *sync.Mutex, hear func(Heard)) {
	conn, err := dial(path, "SUB")
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	if conn.write(0, []byte{1}) != nil { // subscribes to everything
		return
	}
	for {
		data, err := conn.receive()
		if err != nil {
			return
		}
		var heard Heard
		if Unmarshal(data, &heard.Tapped) != nil {
			return
		}
		heard.Envelope, heard.Message, err = openFrame([]byte(heard.Tapped.Frame))
		if err != nil {
			heard.Message = nil
		}
		turn.Lock()
		hear(heard)
		turn.Unlock()
	}
}
