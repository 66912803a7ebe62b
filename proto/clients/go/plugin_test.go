package berth

import (
	"bufio"
	"net"
	"strings"
	"testing"
)

// An answer that is too long becomes an error, and the numbering goes on without a gap.
func TestWhatIsTooLongIsAnError(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	l := &link{client: NewClient("long", nil), conn: &zmtp{Conn: here}, sent: 4}
	frames := make(chan []byte, 2)
	go func() {
		other := &zmtp{Conn: there, reader: bufio.NewReader(there)}
		for range 2 {
			body, err := other.receive()
			if err != nil {
				close(frames)
				return
			}
			frames <- body
		}
	}()
	long := strings.Repeat("x", FrameMax)
	for _, message := range []any{&PluginAnswer{ID: 7, Reason: long}, &PluginPermit{UID: long}, &Heartbeat{}} {
		if err := l.send(message); err != nil {
			t.Fatal(err)
		}
	}
	envelope, message, err := openFrame(<-frames)
	answer, is := message.(*PluginAnswer)
	if err != nil || !is || answer.ID != 7 || !strings.Contains(answer.Error, "a frame has at most") || envelope.Link != 5 {
		t.Fatal(envelope, message, err)
	}
	envelope, message, err = openFrame(<-frames)
	if _, is := message.(*Heartbeat); err != nil || !is || envelope.Link != 6 {
		t.Fatal(envelope, message, err)
	}
}
