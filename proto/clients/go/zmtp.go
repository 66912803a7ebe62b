package berth

// A connection that speaks ZMTP 3.0 (rfc.zeromq.org/spec/23) with the NULL mechanism, as a client: all that a plugin or a
// listener on ipc needs of ZeroMQ. CURVE is not there: over tcp between hosts use the Python library, or a tunnel.
// What must stay true: no frame makes it take more memory than FrameMax, and frames are written whole.

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	more, long, command = 1, 2, 4
	handshakeTime       = 10 * time.Second
)

type zmtp struct {
	net.Conn
	reader *bufio.Reader
	writes sync.Mutex // PONG is said while others speak
}

// dial connects to a path, or to ipc://PATH or tcp://HOST:PORT, as a DEALER or a SUB.
func dial(address, kind string) (*zmtp, error) {
	network, place, named := strings.Cut(address, "://")
	if !named {
		network, place = "ipc", address
	}
	if network == "ipc" {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, place, handshakeTime)
	if err != nil {
		return nil, err
	}
	c := &zmtp{Conn: conn, reader: bufio.NewReaderSize(conn, 1<<16)}
	if err := c.shakeHands(kind); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *zmtp) shakeHands(kind string) error {
	c.SetDeadline(time.Now().Add(handshakeTime))
	greeting := [64]byte{0: 0xff, 9: 0x7f, 10: 3}
	copy(greeting[12:], "NULL")
	if _, err := c.Write(greeting[:]); err != nil {
		return err
	}
	if _, err := io.ReadFull(c.reader, greeting[:]); err != nil {
		return err
	}
	if greeting[0] != 0xff || greeting[10] < 3 || string(greeting[12:17]) != "NULL\x00" {
		return errors.New("the other side does not speak ZMTP 3 with NULL; it may want CURVE keys")
	}
	property := func(name, value string) string {
		return string(rune(len(name))) + name + "\x00\x00\x00" + string(rune(len(value))) + value
	}
	if err := c.write(command, []byte("\x05READY"+property("Socket-Type", kind)+property("Identity", ""))); err != nil {
		return err
	}
	flags, ready, err := c.frame()
	if err != nil {
		return err
	}
	if flags&command == 0 || !strings.HasPrefix(string(ready), "\x05READY") {
		return errors.New("the other side is not ready")
	}
	return c.SetDeadline(time.Time{})
}

func (c *zmtp) write(flags byte, body []byte) error {
	head := []byte{flags, byte(len(body))}
	if len(body) > 255 {
		head = binary.BigEndian.AppendUint64([]byte{flags | long}, uint64(len(body)))
	}
	c.writes.Lock()
	defer c.writes.Unlock()
	c.SetWriteDeadline(time.Now().Add(handshakeTime)) // who reads nothing for so long is not there
	_, err := c.Write(append(head, body...))
	return err
}

func (c *zmtp) frame() (flags byte, body []byte, err error) {
	if flags, err = c.reader.ReadByte(); err != nil {
		return
	}
	head := make([]byte, 1, 8)
	if flags&long != 0 {
		head = head[:8]
	}
	if _, err = io.ReadFull(c.reader, head); err != nil {
		return
	}
	size := uint64(0)
	for _, b := range head {
		size = size<<8 | uint64(b)
	}
	if size > 2*FrameMax { // a tap's frame has one of these in it
		return flags, nil, errors.New("a frame is too long")
	}
	body = make([]byte, size)
	_, err = io.ReadFull(c.reader, body)
	return
}

// receive gives the next part of a message; commands are answered where they want it.
func (c *zmtp) receive() ([]byte, error) {
	for {
		flags, body, err := c.frame()
		if err != nil || flags&command == 0 {
			return body, err
		}
		if strings.HasPrefix(string(body), "\x04PING") && len(body) >= 7 {
			if err := c.write(command, append([]byte("\x04PONG"), body[7:]...)); err != nil {
				return nil, err
			}
		}
	}
}
