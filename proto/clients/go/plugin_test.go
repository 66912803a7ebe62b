package berth

import (
	"bufio"
	"net"
	"reflect"
	"strings"
	"testing"
)

// An answer that is too long becomes an error, and the numbering goes on without a gap.
func TestWhatIsTooLongIsAnError(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	l := &link{client: NewClient("long", nil), conn: &zmtp{Conn: here}, sent: 4}
	frames := make(chan []byte, 3)
	go func() {
		other := &zmtp{Conn: there, reader: bufio.NewReader(there)}
		for range 3 {
			body, err := other.receive()
			if err != nil {
				close(frames)
				return
			}
			frames <- body
		}
	}()
	long := strings.Repeat("x", FrameMax)
	for _, message := range []any{&PluginAnswer{ID: 7, Reason: long}, &PluginAnswer{ID: 8, Error: long}, &PluginPermit{UID: long}, &Heartbeat{}} {
		if err := l.send(message); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int64(2) {
		envelope, message, err := openFrame(<-frames)
		answer, is := message.(*PluginAnswer)
		if err != nil || !is || answer.ID != 7+i || !strings.Contains(answer.Error, "a frame has at most") || envelope.Link != 5+i {
			t.Fatal(envelope, message, err)
		}
	}
	envelope, message, err := openFrame(<-frames)
	if _, is := message.(*Heartbeat); err != nil || !is || envelope.Link != 7 {
		t.Fatal(envelope, message, err)
	}
}

func BenchmarkOpenFrame(b *testing.B) {
	ask := PluginAsk{ID: 1, Step: PluginStepScore}
	for range 1000 {
		ask.Nodes = append(ask.Nodes, PluginNode{Name: "node-of-some-length", Labels: []Label{{Key: "kubernetes.io/hostname", Value: "n"}}})
	}
	body, err := Marshal(&Envelope{Type: numbers[reflect.TypeOf(ask)]}, &ask)
	if err != nil {
		b.Fatal(err)
	}
	for range b.N {
		if _, message, err := openFrame(append([]byte{1}, body...)); err != nil || message == nil {
			b.Fatal(err)
		}
	}
}
