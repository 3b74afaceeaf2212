package config

import (
	"errors"
	"log/slog"
	"reflect"
	"testing"
	"time"
)

// reflectAt spells the value of a leaf.
func reflectAt(c Config, l leaf) string { return getText(reflect.ValueOf(c).FieldByIndex(l.index)) }

// unwrapAll is the innermost error.
func unwrapAll(err error) error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}

func TestBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "0B": 0, "1B": 1, "1023B": 1023, "1KiB": 1024, "1536B": 1536, "4MiB": 4 << 20, "8388607TiB": -1, "8589934591GiB": 8589934591 << 30,
		"8589934592GiB": -1, "1": -1, "1KB": -1, "1 KiB": -1, "1kib": -1, "-1B": -1, "1.5MiB": -1, "01B": -1, "B": -1, "": -1, "+1B": -1,
	} {
		got, err := parseBytes(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("parseBytes(%q) = %d, %v, want %d", text, got, err, want)
		}
		if err != nil {
			continue
		}
		if again, err := parseBytes(got.String()); err != nil || again != got {
			t.Errorf("%d is written %s and read %d, %v", got, got, again, err)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "0s": 0, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1.5s": 1500 * time.Millisecond,
		"90": -1, "-1s": -1, "1d": -1, "": -1, "s": -1, "1 s": -1, "999999999h": -1,
	} {
		got, err := parseDuration(text)
		if (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("parseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", time.Minute: "1m", time.Hour: "1h", 10 * time.Hour: "10h", 90 * time.Minute: "1h30m", 90 * time.Second: "1m30s",
		time.Hour + time.Second: "1h0m1s", 10 * time.Minute: "10m", 20 * time.Second: "20s", time.Millisecond: "1ms",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("formatDuration(%v) = %s, want %s", d, got, want)
		}
		if got, err := parseDuration(formatDuration(d)); err != nil || got != d {
			t.Errorf("%v is read again as %v, %v", d, got, err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"listen", "call_timeout", "connect_timeout", "env", "url", "max_sessions", "mcpServers"}
	for word, want := range map[string]string{
		"lisetn": "listen", "Listen": "listen", "callTimeout": "call_timeout", "call-timeout": "call_timeout", "calltimeuot": "call_timeout",
		"evn": "env", "uri": "url", "maxsession": "max_sessions", "mcp_servers": "mcpServers", "x": "", "dev": "", "": "", "headers": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestURLString(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"https://x.example/mcp":        "https://x.example/mcp",
		"http://[::1]:80/a%2Fb?":       "http://[::1]:80/a%2Fb",
		"https://x/?a=1&b=2;c&d":       "https://x/?a=[redacted]&b=[redacted]&[redacted]",
		"https://user:pw@x/":           "https://x/",
		"https://x/#part":              "https://x/",
		"opaque:secret":                "opaque:",
		"https://x/%zz?secret":         "[redacted]",
		"https://x.example?key=${KEY}": "https://x.example?key=[redacted]",
	} {
		if got := NewURL(text).String(); got != want {
			t.Errorf("URL %q shows as %q, want %q", text, got, want)
		}
	}
}

func TestLogLevel(t *testing.T) {
	for level, want := range map[LogLevel]slog.Level{
		"": slog.LevelInfo, LevelDebug: slog.LevelDebug, LevelInfo: slog.LevelInfo, LevelWarn: slog.LevelWarn, LevelError: slog.LevelError,
	} {
		if got := level.Level(); got != want {
			t.Errorf("%q.Level() = %v, want %v", level, got, want)
		}
	}
}
