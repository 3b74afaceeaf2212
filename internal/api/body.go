package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/beckon-mcp/beckon/internal/wire"
)

// read reads the body, which must be JSON, not too long, and come before the
// deadline that the front has set. Nil means that there is none.
func (v *visit) read() ([]byte, *failure) {
	if v.r.ContentLength > int64(v.body) {
		return nil, tooLong(v.body)
	}
	if coding := v.r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		v.w.Header().Set("Accept-Encoding", "identity")
		return nil, fault(http.StatusUnsupportedMediaType, reasonHTTP, "the body must not be compressed").
			Hint("send it as it is, without Content-Encoding")
	}
	data, err := io.ReadAll(http.MaxBytesReader(v.w, v.r.Body, int64(v.body)))
	if err != nil {
		return nil, v.unread(err)
	}
	_ = http.NewResponseController(v.w).SetReadDeadline(time.Time{}) // where there are no deadlines, none has been set
	if len(data) == 0 {
		return nil, nil
	}
	if kind, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fault(http.StatusUnsupportedMediaType, reasonHTTP, "the body must be JSON").
			Hint("send Content-Type: application/json")
	}
	return data, nil
}

// unread says why a body could not be read.
func (v *visit) unread(err error) *failure {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLong(v.body)
	}
	if timeout, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err); ok && timeout.Timeout() {
		v.w.Header().Set("Connection", "close")
		return fault(http.StatusRequestTimeout, reasonSlow, "the body did not come in time")
	}
	return fault(http.StatusBadRequest, reasonMalformed, "the body ends too early")
}

func tooLong(limit int) *failure {
	f := fault(http.StatusRequestEntityTooLarge, reasonSize, "the body is longer than %d bytes", limit).
		Hint("send less, or raise the limit (http.max_body)")
	return &failure{f.status, f.err.With("limit", limit)}
}

// malformed is a body that is not what the endpoint takes.
func malformed(format string, args ...any) *failure {
	return fault(http.StatusBadRequest, reasonMalformed, format, args...)
}

// decode reads the body into a T, a struct whose tags say what is taken: nothing
// else is, not even another spelling of a name. Without a body, T is empty.
func decode[T any](v *visit) (T, *failure) {
	var t T
	data, f := v.read()
	if f != nil || data == nil {
		return t, f
	}
	object, err := wire.ParseObject(data)
	if p, ok := errors.AsType[*wire.ParseError](err); ok {
		return t, malformed("the body is no JSON object that everybody reads alike: %s", p.Detail).
			Hint("each name may stand there once, and nothing may follow the object")
	}
	return t, fill(reflect.ValueOf(&t).Elem(), object, "")
}

// fill sets the fields of a struct to the members of a JSON object; at is where
// that stands in the body.
func fill(dst reflect.Value, object []byte, at string) *failure {
	for name, value := range wire.Members(object) {
		field, ok := fieldOf(dst.Type(), name)
		if !ok {
			return malformed("there is no member %.60q here", at+name).
				Hint("the members are " + strings.Join(names(dst.Type()), ", "))
		}
		if f := set(dst.FieldByIndex(field.Index), field, value, at+name); f != nil {
			return f
		}
	}
	return nil
}

// set sets one field, which need not be a pointer to be absent: what is there must
// not be null.
func set(dst reflect.Value, field reflect.StructField, value []byte, at string) *failure {
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	switch {
	case dst.Type() == reflect.TypeFor[json.RawMessage]():
		if value[0] != '{' {
			return malformed("%s must be an object", at)
		}
		dst.SetBytes(bytes.Clone(value))
	case dst.Kind() == reflect.Struct:
		if value[0] != '{' {
			return malformed("%s must be an object", at)
		}
		return fill(dst, value, at+".")
	case dst.Kind() == reflect.String:
		return setText(dst, field.Tag, value, at)
	case dst.Kind() == reflect.Bool:
		if value[0] != 't' && value[0] != 'f' {
			return malformed("%s must be true or false", at)
		}
		dst.SetBool(value[0] == 't')
	default:
		return setNumber(dst, field.Tag, value, at)
	}
	return nil
}

func setText(dst reflect.Value, tag reflect.StructTag, value []byte, at string) *failure {
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil {
		return malformed("%s must be a string", at)
	}
	if most, err := strconv.Atoi(tag.Get("maxLength")); err == nil && len([]rune(s)) > most {
		return malformed("%s has more than %d characters", at, most)
	}
	if words := enum(tag); words != nil && !slices.Contains(words, s) {
		return malformed("%s must be one of %s", at, strings.Join(words, ", "))
	}
	dst.SetString(s)
	return nil
}

func setNumber(dst reflect.Value, tag reflect.StructTag, value []byte, at string) *failure {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return malformed("%s must be a whole number", at)
	}
	if least, err := strconv.ParseInt(tag.Get("minimum"), 10, 64); err == nil && n < least {
		return malformed("%s must be at least %d", at, least)
	}
	if most, err := strconv.ParseInt(tag.Get("maximum"), 10, 64); err == nil && n > most {
		return malformed("%s must be at most %d", at, most)
	}
	dst.SetInt(n)
	return nil
}

// fieldOf finds the field for the member name.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		if nameOf(field) == name {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// nameOf is the name of a field in JSON.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func names(t reflect.Type) []string {
	var all []string
	for field := range t.Fields() {
		all = append(all, nameOf(field))
	}
	return all
}

// enum are the words that a field may hold; nil for any.
func enum(tag reflect.StructTag) []string {
	words := tag.Get("enum")
	if words == "" {
		return nil
	}
	return strings.Split(words, ",")
}

// encode writes a body in JSON, on one line.
func encode(body any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		panic("api: a body is not JSON: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func (v *visit) reply(status int, kind string, body any) { v.send(status, kind, encode(body)) }

// send writes a body. A caller that is gone needs none.
func (v *visit) send(status int, kind string, body []byte) {
	h := v.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(status)
	_, _ = v.w.Write(body)
}
