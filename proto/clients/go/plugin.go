package berth

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"reflect"
	"sync"
	"time"
)

// What a plugin may be: it is asked for those of these that it has. All are called one at a time.
type (
	// Filter gives a reason for each node that is no good; the others pass.
	Filter interface {
		Filter(*PluginAsk) (map[string]string, error)
	}
	// Score gives 0 to 100 for nodes; one that is not named gets 0.
	Score interface {
		Score(*PluginAsk) (map[string]int64, error)
	}
	// Step answers every other step (ask.Step): with whatever fields of the answer the step has. Its id is filled in.
	Step interface {
		Step(*PluginAsk) (*PluginAnswer, error)
	}
	// Told hears what became of a pod.
	Told interface{ Told(*PluginTold) }
	// Other hears every other message, as a pointer to its struct, and may give back one to send.
	Other interface {
		Hear(message any) (answer any)
	}
)

const (
	heartbeat, silence = 250 * time.Millisecond, 3 * time.Second
	anew, pause        = 20 * time.Second, 100 * time.Millisecond
)

// Client is a plugin's connections.
type Client struct {
	name   string
	plugin any
	life   int64
	turn   sync.Mutex // a plugin does one thing at a time
	links  []*link
}

// NewClient: the name is what the profile calls the plugin.
func NewClient(name string, plugin any) *Client {
	return &Client{name: name, plugin: plugin, life: rand.Int64() | 1}
}

// Run serves until the context ends, at each of these sockets: a path, ipc://PATH or tcp://HOST:PORT.
func (c *Client) Run(ctx context.Context, addresses ...string) {
	var running sync.WaitGroup
	for _, address := range addresses {
		c.links = append(c.links, &link{client: c, address: address, out: make(chan any, 1024)})
	}
	for _, l := range c.links {
		running.Add(1)
		go func() {
			defer running.Done()
			l.run(ctx)
		}()
	}
	running.Wait()
}

// Tell says something unasked, such as a PluginPermit, at every socket. False: it could not be said anywhere now.
func (c *Client) Tell(message any) bool {
	said := false
	for _, l := range c.links {
		select {
		case l.out <- message:
			said = true
		default:
		}
	}
	return said
}

// link is a connection to one process's door, and its numbering: a session begins with a hello, and ends with any fault.
type link struct {
	client             *Client
	address, why       string
	out                chan any
	conn               *zmtp
	up                 bool
	session            int64
	sent, expected     int64 // numbers of the last frame out, and of the next one in
	heard, said, spoke time.Time
	nextHello          time.Time
}

func (l *link) run(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := dial(l.address, "DEALER")
		if err == nil {
			l.conn, l.up, l.nextHello, l.heard = conn, false, time.Time{}, time.Now()
			err = l.serve(ctx)
			conn.Close()
		}
		if err != nil && ctx.Err() == nil {
			l.complain(err.Error())
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
	}
}

// complain says each trouble once, not at every attempt.
func (l *link) complain(why string) {
	if why != l.why {
		log.Printf("%s: %s: %s", l.client.name, l.address, why)
	}
	l.why = why
}

func (l *link) serve(ctx context.Context) error {
	frames, broken, done := make(chan []byte), make(chan error, 1), make(chan struct{})
	defer close(done)
	go func() {
		for {
			frame, err := l.conn.receive()
			if err != nil {
				broken <- err
				return
			}
			select {
			case frames <- frame:
			case <-done:
				return
			}
		}
	}()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		if err := l.tend(); err != nil {
			return err
		}
		select {
		case frame := <-frames:
			l.heard = time.Now()
			if err := l.receive(frame); err != nil {
				l.complain(err.Error())
				l.beginAnew(pause)
			}
		case message := <-l.out:
			if l.up {
				l.send(message)
			}
		case err := <-broken:
			return err
		case <-ticker.C:
		case <-ctx.Done():
			if l.up {
				l.send(&Goodbye{})
			}
			return nil
		}
	}
}

// tend says what is due: a hello where there is no session, else that we live.
func (l *link) tend() error {
	now := time.Now()
	if l.up && now.Sub(l.heard) > silence {
		l.beginAnew(pause)
	}
	if !l.up && now.Sub(l.heard) > anew {
		return errors.New("nobody answers")
	}
	if !l.up && !now.Before(l.nextHello) {
		l.session, l.sent, l.said, l.nextHello = l.session+1, 0, now, now.Add(time.Second)
		return l.send(&Hello{Process: "plugin", Instance: l.client.name, Incarnation: l.client.life,
			PID: int64(os.Getpid()), Version: "1", Session: l.session})
	}
	if l.up && now.Sub(l.spoke) > heartbeat {
		return l.send(&Heartbeat{})
	}
	return nil
}

func (l *link) beginAnew(wait time.Duration) {
	l.up, l.nextHello = false, l.said.Add(wait)
}

func (l *link) send(message any) error {
	number, known := numbers[reflect.TypeOf(message).Elem()]
	if !known {
		return fmt.Errorf("%T is no message", message)
	}
	body, err := Marshal(&Envelope{Type: number, Link: l.sent + 1, Incarnation: l.client.life}, message)
	if err != nil {
		return err
	}
	if len(body) >= FrameMax {
		return l.sendInPlace(message, len(body)+1)
	}
	l.sent++
	l.spoke = time.Now()
	return l.conn.write(0, append([]byte{1}, body...))
}

// sendInPlace: of a message that is too long nothing goes out, but to whom an answer is owed, it is told.
func (l *link) sendInPlace(message any, size int) error {
	why := fmt.Sprintf("%T of %d bytes, and a frame has at most %d", message, size, FrameMax)
	if answer, is := message.(*PluginAnswer); is {
		return l.send(&PluginAnswer{ID: answer.ID, Error: why})
	}
	log.Printf("%s: %s: %s", l.client.name, l.address, why)
	return nil
}

// openFrame: the message is nil when its number is of a newer berth.
func openFrame(frame []byte) (envelope Envelope, message any, err error) {
	if len(frame) == 0 || len(frame) > FrameMax || frame[0] != 1 {
		return envelope, nil, errors.New("not a frame of this version")
	}
	body := newReader(frame[1:])
	if err = body.next(&envelope); err != nil {
		return envelope, nil, err
	}
	if kind, known := kinds[envelope.Type]; known {
		message = reflect.New(kind).Interface()
		err = body.next(message)
	} else {
		err = body.next(&rest{})
	}
	if err == nil {
		err = body.end()
	}
	return envelope, message, err
}

// rest is a record of which nothing is known.
type rest struct{}

func (l *link) receive(frame []byte) error {
	envelope, message, err := openFrame(frame)
	if err != nil {
		return err
	}
	if hello, is := message.(*Hello); is {
		l.onHello(hello)
		return nil
	}
	if !l.up {
		return nil
	}
	if envelope.Link != l.expected {
		return errors.New("a message was lost")
	}
	l.expected++
	if message == nil {
		return nil
	}
	if answer := l.client.hear(message); answer != nil {
		return l.send(answer)
	}
	return nil
}

func (l *link) onHello(hello *Hello) {
	if hello.Session == l.session {
		l.up, l.expected, l.why = true, 2, ""
	} else if hello.Session == 0 && hello.Refused != "" {
		l.complain("not let in: " + hello.Refused)
		l.beginAnew(silence)
	} else if hello.Session == 0 {
		l.beginAnew(pause)
	}
}

func (c *Client) hear(message any) any {
	c.turn.Lock()
	defer c.turn.Unlock()
	switch m := message.(type) {
	case *PluginAsk:
		answer, err := c.answer(m)
		if err != nil {
			log.Printf("%s: %s: %v", c.name, m.Step, err)
			answer = &PluginAnswer{Error: err.Error()}
		}
		answer.ID = m.ID
		return answer
	case *PluginTold:
		if told, is := c.plugin.(Told); is {
			told.Told(m)
		}
	default:
		if other, is := c.plugin.(Other); is {
			return other.Hear(m)
		}
	}
	return nil
}

func (c *Client) answer(ask *PluginAsk) (answer *PluginAnswer, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("panic: %v", problem)
		}
	}()
	if filter, is := c.plugin.(Filter); is && ask.Step == PluginStepFilter {
		reasons, err := filter.Filter(ask)
		answer = &PluginAnswer{}
		for node, reason := range reasons {
			answer.Refused = append(answer.Refused, PluginRefusal{Node: node, Reason: reason})
		}
		return answer, err
	}
	if score, is := c.plugin.(Score); is && ask.Step == PluginStepScore {
		scores, err := score.Score(ask)
		answer = &PluginAnswer{}
		for node, value := range scores {
			answer.Scores = append(answer.Scores, PluginOpinion{Node: node, Score: value})
		}
		return answer, err
	}
	if step, is := c.plugin.(Step); is {
		if answer, err = step.Step(ask); answer == nil && err == nil {
			answer = &PluginAnswer{}
		}
		return answer, err
	}
	return nil, fmt.Errorf("no method for the step %q", ask.Step)
}
