// Package berth speaks on berth's bus: all messages by name (names.go), plugins (plugin.go), and listening (tap.go).
package berth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"sync"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// FrameMax is how many bytes a frame may have: berth sends no longer one and reads none.
const FrameMax = 16 << 20

// Marshal gives the bytes of records, one behind the other. What is zero or empty is left out.
func Marshal(records ...any) ([]byte, error) {
	var out bytes.Buffer
	encoder := msgpack.NewEncoder(&out)
	for _, record := range records {
		if err := encode(encoder, reflect.Indirect(reflect.ValueOf(record))); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// Unmarshal reads records that stand one behind the other, and nothing behind them. Fields that nobody knows are skipped.
func Unmarshal(data []byte, records ...any) error {
	r := newReader(data)
	for _, record := range records {
		if err := r.next(record); err != nil {
			return err
		}
	}
	return r.end()
}

// reader reads records one by one: what the first says may decide what the next one is.
type reader struct {
	bytes   *bytes.Reader
	decoder *msgpack.Decoder
}

func newReader(data []byte) reader {
	all := bytes.NewReader(data)
	return reader{all, msgpack.NewDecoder(all)}
}

func (r reader) next(record any) error {
	return decode(r.decoder, reflect.ValueOf(record).Elem(), r.bytes)
}

func (r reader) end() error {
	if r.bytes.Len() != 0 {
		return errors.New("bytes behind the record")
	}
	return nil
}

// layout is which number each field of a record has on the wire, and the other way round.
type layout struct {
	tags   []int64
	fields map[int64]int
}

var layouts sync.Map // by type: working it out takes longer than reading a record

func layoutOf(kind reflect.Type) *layout {
	if known, is := layouts.Load(kind); is {
		return known.(*layout)
	}
	l := &layout{fields: map[int64]int{}}
	for i := range kind.NumField() {
		tag, _ := strconv.ParseInt(kind.Field(i).Tag.Get("bus"), 10, 64)
		l.tags, l.fields[tag] = append(l.tags, tag), i
	}
	layouts.Store(kind, l)
	return l
}

// empty is also true of a record all of whose fields are.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Struct:
		for i := range v.NumField() {
			if !empty(v.Field(i)) {
				return false
			}
		}
		return true
	}
	return v.IsZero()
}

func encode(e *msgpack.Encoder, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Bool:
		return e.EncodeBool(v.Bool())
	case reflect.Int64:
		return e.EncodeInt(v.Int())
	case reflect.String:
		return e.EncodeString(v.String())
	case reflect.Slice:
		err := e.EncodeArrayLen(v.Len())
		for i := 0; err == nil && i < v.Len(); i++ {
			err = encode(e, v.Index(i))
		}
		return err
	case reflect.Struct:
		there, tags := []int{}, layoutOf(v.Type()).tags
		for i := range v.NumField() {
			if !empty(v.Field(i)) {
				there = append(there, i)
			}
		}
		err := e.EncodeMapLen(len(there))
		for _, i := range there {
			if err == nil {
				err = e.EncodeInt(tags[i])
			}
			if err == nil {
				err = encode(e, v.Field(i))
			}
		}
		return err
	}
	return fmt.Errorf("a %s is no field of a record", v.Kind())
}

// decode: what a count promises must be there, a byte at least for each; the depth is that of the Go types.
func decode(d *msgpack.Decoder, v reflect.Value, left *bytes.Reader) (err error) {
	switch v.Kind() {
	case reflect.Bool:
		var value bool
		value, err = d.DecodeBool()
		v.SetBool(value)
	case reflect.Int64:
		var value int64
		value, err = d.DecodeInt64()
		v.SetInt(value)
	case reflect.String:
		var value string
		value, err = d.DecodeString()
		v.SetString(value)
	case reflect.Slice:
		var count int
		if count, err = d.DecodeArrayLen(); err == nil && count > left.Len() {
			return io.ErrUnexpectedEOF
		}
		for i := 0; err == nil && i < count; i++ {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			err = decode(d, v.Index(i), left)
		}
	case reflect.Struct:
		return decodeRecord(d, v, left)
	}
	return err
}

func decodeRecord(d *msgpack.Decoder, v reflect.Value, left *bytes.Reader) error {
	count, err := d.DecodeMapLen()
	if err == nil && count < 0 {
		return errors.New("nil is no record")
	}
	fields := layoutOf(v.Type()).fields
	for i := 0; err == nil && i < count; i++ {
		var tag int64
		if tag, err = d.DecodeInt64(); err != nil {
			break
		}
		if field, known := fields[tag]; known {
			err = decode(d, v.Field(field), left)
		} else {
			err = skip(d)
		}
	}
	return err
}

// skip passes over one value of any depth, without recursion.
func skip(d *msgpack.Decoder) error {
	for values := 1; values > 0; values-- {
		code, err := d.PeekCode()
		if err != nil {
			return err
		}
		count := 0
		switch {
		case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
			count, err = d.DecodeMapLen()
			count *= 2
		case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
			count, err = d.DecodeArrayLen()
		default:
			err = d.Skip()
		}
		if err != nil {
			return err
		}
		values += count
	}
	return nil
}
