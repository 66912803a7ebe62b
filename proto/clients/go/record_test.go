package berth

import (
	"bytes"
	"encoding/hex"
	"os"
	"reflect"
	"strings"
	"testing"
)

// The bytes of every message, as berth's own codec has them, are read by name and written again to the same bytes.
func TestEveryMessageAsBerthHasIt(t *testing.T) {
	text, err := os.ReadFile("../../../tests/golden/frames.txt")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]reflect.Type{}
	for _, kind := range kinds {
		byName[strings.ToLower(kind.Name())] = kind
	}
	lines, seen := strings.Split(strings.TrimSpace(string(text)), "\n"), map[string]bool{}
	for i := 0; i+1 < len(lines); i += 2 {
		name, _, _ := strings.Cut(lines[i], " ")
		kind, known := byName[strings.ReplaceAll(name, "_", "")]
		data, err := hex.DecodeString(lines[i+1])
		if !known || err != nil {
			t.Fatal(name, known, err)
		}
		record := reflect.New(kind).Interface()
		if err := Unmarshal(data, record); err != nil {
			t.Fatal(name, err)
		}
		written, err := Marshal(record)
		if err != nil || !bytes.Equal(written, data) {
			t.Errorf("%s: %v\n%x\n%x", name, err, data, written)
		}
		for cut := 0; cut < len(data); cut += 1 + len(data)/50 {
			if Unmarshal(data[:cut], record) == nil {
				t.Fatalf("%s: %d of its %d bytes are taken for all", name, cut, len(data))
			}
		}
		seen[name] = true
	}
	if len(seen) < 80 {
		t.Errorf("only %d messages", len(seen))
	}
}

func TestWhatIsNoRecord(t *testing.T) {
	for _, bad := range []string{"", "c0", "90", "8101dd0fffffff", "8103dd0fffffffa161", "81dd0fffffff01", "7f", "8080", "df7fffffff"} {
		data, _ := hex.DecodeString(bad)
		if err := Unmarshal(data, &PluginAsk{}); err == nil {
			t.Errorf("%s is taken for a record", bad)
		}
	}
	deep := append([]byte{0x81, 0x7f}, bytes.Repeat([]byte{0x91}, 10<<20)...)
	if Unmarshal(deep, &PluginAsk{}) == nil {
		t.Error("what breaks off in the depth is taken for a record")
	}
}

func TestUnknownTagsAreSkipped(t *testing.T) {
	data, _ := hex.DecodeString("83" + "01a161" + "7f92c0c3" + "cd040081a162a163")
	var label Label
	if err := Unmarshal(data, &label); err != nil || label.Key != "a" || label.Value != "" {
		t.Error(label, err)
	}
}
