package config

import (
	"cmp"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// setText gives v, a single value of field f, the value that text spells. The
// same spelling serves in files, in tags and in variables. The error is a
// [complaint] that quotes no secret.
func setText(v reflect.Value, f field, text string) error {
	switch p := v.Addr().Interface().(type) {
	case *Secret:
		if strings.Contains(text, redacted) {
			return complain("put the secret itself here, or ${NAME}", "%s is what stands in place of a secret when a configuration is printed", redacted)
		}
		*p = NewSecret(text)
		return nil
	case *URL:
		*p = NewURL(text)
		return checkURL(text)
	case *time.Duration:
		d, err := parseDuration(text)
		if err != nil {
			return err
		}
		*p = d
		return f.checkRange(v)
	case *Bytes:
		b, err := parseBytes(text)
		if err != nil {
			return err
		}
		*p = b
		return f.checkRange(v)
	case *int:
		n, err := parseWhole(text)
		if err != nil {
			return err
		}
		if *p = int(n); int64(*p) != n {
			return complain("", "the number is out of range")
		}
		return f.checkRange(v)
	case *bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return complain("", "expected true or false, found %s", quoteShort(text))
		}
		*p = b
		return nil
	}
	return f.setWord(v, text)
}

// setWord sets a plain text, or one of the words that the field allows.
func (f field) setWord(v reflect.Value, text string) error {
	if len(f.one) > 0 && !slices.Contains(f.one, text) {
		hint := ""
		if word := nearest(text, f.one); word != "" {
			hint = "did you mean " + word + "?"
		}
		return complain(hint, "expected %s, found %s", f.words(), quoteShort(text))
	}
	if strings.ContainsRune(text, 0) {
		return complain("", "contains a NUL character, which no program can be given")
	}
	v.SetString(text)
	return nil
}

// checkRange holds v against the bounds of its field.
func (f field) checkRange(v reflect.Value) error {
	for _, bound := range []struct {
		text, problem string
		sign          int
	}{{f.min, "less than the minimum", -1}, {f.max, "more than the maximum", 1}} {
		if bound.text == "" {
			continue
		}
		limit := reflect.New(v.Type()).Elem()
		if err := setText(limit, field{}, bound.text); err != nil {
			panic("config: bound of " + f.key + ": " + err.Error())
		}
		if cmp.Compare(v.Int(), limit.Int()) == bound.sign {
			return complain(f.rangeHint(), "%s is %s %s", getText(v), bound.problem, bound.text)
		}
	}
	return nil
}

// rangeHint says what is allowed, after a value was not.
func (f field) rangeHint() string {
	if f.min != "" && f.max != "" {
		return "from " + f.min + " to " + f.max
	}
	return ""
}

// getText spells a single value as setText reads it.
func getText(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case Secret:
		return x.Reveal()
	case URL:
		return x.Reveal()
	case time.Duration:
		return formatDuration(x)
	case Bytes:
		return x.String()
	case int:
		return strconv.Itoa(x)
	case bool:
		return strconv.FormatBool(x)
	}
	return v.String()
}

// checkURL holds the address of a backend against what can be dialed.
func checkURL(text string) error {
	hint := "as in https://mcp.example.com/mcp"
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return complain(hint, "not an address that can be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return complain(hint, "the address does not begin with http:// or https://")
	case u.Hostname() == "":
		return complain(hint, "the address has no host")
	case u.User != nil:
		return complain("use headers, as in Authorization: Basic ...", "the address holds a user or password")
	case u.Fragment != "":
		return complain("leave out what follows #", "the address has a fragment, which is never sent")
	case strings.Contains(text, redacted):
		return complain("put the value itself there, or ${NAME}", "%s is what stands in place of a secret when a configuration is printed", redacted)
	}
	return checkPort(u.Port())
}

// checkPort allows an empty port, and those that exist.
func checkPort(port string) error {
	if port == "" {
		return nil
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return complain("", "the port is not a number from 0 to 65535")
	}
	return nil
}
