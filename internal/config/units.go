package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is an amount of data. In a file it is written with its unit: 512B,
// 64KiB, 4MiB, 1GiB; the units are powers of 1024.
type Bytes int64

// The units of [Bytes].
const (
	Byte Bytes = 1
	KiB        = 1024 * Byte
	MiB        = 1024 * KiB
	GiB        = 1024 * MiB
)

// String writes the amount in the largest unit that needs no fraction.
func (b Bytes) String() string {
	for _, u := range sizeUnits {
		if b != 0 && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + u.name
		}
	}
	return "0B"
}

// MarshalText writes the amount as String does.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// sizeUnits are the units of [Bytes], the largest first; "B" ends all of them
// and stands last.
var sizeUnits = []struct {
	name string
	size Bytes
}{{"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}, {"B", Byte}}

// parseBytes reads what String writes. A bare 0 is an amount, too.
func parseBytes(text string) (Bytes, error) {
	if text == "0" {
		return 0, nil
	}
	for _, u := range sizeUnits {
		digits, found := strings.CutSuffix(text, u.name)
		if !found {
			continue
		}
		n, err := parseWhole(digits)
		if err != nil {
			break
		}
		if n < 0 {
			return 0, complaint{problem: "a size cannot be negative"}
		}
		if n > math.MaxInt64/int64(u.size) {
			return 0, complaint{problem: "more than any machine has"}
		}
		return Bytes(n) * u.size, nil
	}
	problem := "expected a size such as 4MiB, found " + quoteShort(text)
	if _, err := parseWhole(text); err == nil {
		return 0, complaint{problem, "add the unit: " + text + "B, or KiB, MiB, GiB (powers of 1024)"}
	}
	return 0, complaint{problem, "a whole number and its unit, without a space: B, KiB, MiB or GiB (powers of 1024)"}
}

// parseDuration reads what time.ParseDuration reads, without negative amounts.
func parseDuration(text string) (time.Duration, error) {
	problem := "expected a duration such as 30s, found " + quoteShort(text)
	d, err := time.ParseDuration(text)
	switch {
	case err == nil && d < 0:
		return 0, complaint{problem: "a duration cannot be negative"}
	case err == nil:
		return d, nil
	}
	if _, err := parseWhole(text); err == nil {
		return 0, complaint{problem, "add the unit: " + text + "s for seconds, " + text + "ms for milliseconds"}
	}
	return 0, complaint{problem, `the units are ms, s, m and h, as in "90s", "5m" or "1h30m"`}
}

// formatDuration writes d as [time.Duration.String] does, without the zero
// units at the end: 5m, not 5m0s.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// parseWhole reads a whole number in decimal, as people write it: no leading
// zero (which YAML reads as octal), no underscores, no plus sign.
func parseWhole(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, complaint{problem: "the number is out of range"}
	}
	if err != nil || strconv.FormatInt(n, 10) != text {
		return 0, complaint{problem: "expected a whole number such as 100, found " + quoteShort(text)}
	}
	return n, nil
}
