package form

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The bounds of a definition.
const (
	maxID          = 128
	maxTitle       = 256 // characters; labels and titles of options too
	maxDescription = 2048
	maxFields      = 100
	maxFieldID     = 64
	maxFieldText   = 1024 // characters of the description of a field
	maxOptions     = 1000
	maxWords       = 100  // of allowedSchemes, allowedMimeTypes, allowedExtensions
	maxConditions  = 1000 // in a form, those within conditions included
	maxNesting     = 8    // conditions within each other
	maxMembers     = 20   // of and, or
	maxAttempts    = 100
	maxExtensions  = 100
	maxCount       = 1<<31 - 1
	maxMaxSize     = 1 << 30

	minTerm = time.Second
	maxTerm = time.Hour
)

// checker looks for what is wrong with a definition.
type checker struct {
	parser
	form *Form
	def  *Definition
	own  bool // def.Fields is a copy

	patterns int // the sizes of all patterns together
}

// check returns what is wrong with the definition as such: limits, names, members
// that a type cannot have, dependencies; and fills in the graph. A lifted form may
// have any names and no label, and as few or as many fields as it likes: it is what
// somebody else's schema says.
func (f *Form) check() Faults {
	c := &checker{form: f, def: &f.def}
	lifted := c.def.Open || c.def.lifted != nil
	if !lifted {
		c.heading()
		c.terms()
	}
	for i := range c.def.Fields {
		c.hintsOf(i)
		c.unique(i)
		c.patterns += sizeOfPattern(c.def.Fields[i].Rules.Pattern)
		if lifted {
			c.known(i)
		} else {
			c.field(i)
		}
	}
	c.dependencies()
	if c.patterns > maxPatternSizes {
		c.fault("$", "the patterns of the form are too large together, with their repetitions written out",
			"repeat less often in them, or use + and *; minLength and maxLength bound a length better than a pattern")
	}
	return c.faults.bounded(c.more)
}

// edit returns field i of a copy of the fields: the others are those of whoever
// called Compile.
func (c *checker) edit(i int) *Field {
	if !c.own {
		c.def.Fields = slices.Clone(c.def.Fields)
		c.own = true
	}
	return &c.def.Fields[i]
}

// object reads what a program may have filled in.
func (c *checker) readObject(raw json.RawMessage, path string) *node {
	n := c.readJSON(raw, path)
	if n != nil && n.kind != '{' {
		c.wrong(n, "an object", "write an object, or leave it out")
		return nil
	}
	return n
}

func (c *checker) readJSON(raw json.RawMessage, path string) *node {
	n, faults := readText(raw, path)
	for _, f := range faults {
		c.add(f)
	}
	return n
}

// heading checks what stands around the fields.
func (c *checker) heading() {
	d := c.def
	c.id("$.id", "the form", d.ID, maxID, "")
	c.words("$.title", "the form", "title", d.Title, maxTitle)
	c.length("$.description", "the description", d.Description, maxDescription)
	if len(d.Fields) == 0 {
		c.fault("$.fields", "the form has no fields", `write at least one, such as {"id": "name", "type": "text", "label": "Name"}`)
	}
	if len(d.Fields) > maxFields {
		c.fault("$.fields", fmt.Sprintf("the form has %d fields; %d are possible", len(d.Fields), maxFields), "split it into several forms")
	}
	if d.Metadata != nil {
		c.readObject(d.Metadata, "$.metadata")
	}
}

// id checks the name of a form or field; more are characters that it may have
// besides.
func (c *checker) id(path, what, id string, most int, more string) {
	good := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' || strings.ContainsRune(more, r)
	}
	switch {
	case id == "":
		c.fault(path, what+" needs an id", `write a name of letters, digits, _ and -, such as "api_key"`)
	case utf8.RuneCountInString(id) > most:
		c.fault(path, fmt.Sprintf("the id has %d characters; %d are possible", utf8.RuneCountInString(id), most), "write a shorter name")
	case strings.ContainsFunc(id, func(r rune) bool { return !good(r) }):
		plain := strings.Map(func(r rune) rune {
			if good(r) {
				return r
			}
			return '_'
		}, id)
		c.fault(path, fmt.Sprintf("the id %s has other characters than letters, digits, %s", quoted(id), list(strings.Split("_"+more+"-", ""), "and")),
			"write such as "+quoted(plain))
	}
}

// words checks a text that must be there.
func (c *checker) words(path, what, name, s string, most int) {
	if strings.TrimSpace(s) == "" {
		c.fault(path, what+" needs a "+name, "write what people shall read, in 1 to "+strconv.Itoa(most)+" characters")
		return
	}
	c.length(path, "the "+name, s, most)
}

// length checks a text that may be empty.
func (c *checker) length(path, what, s string, most int) {
	if n := utf8.RuneCountInString(s); n > most {
		c.fault(path, fmt.Sprintf("%s has %d characters; %d are possible", what, n, most), "shorten it")
	}
	if !utf8.ValidString(s) {
		c.fault(path, what+" is no valid UTF-8", "write UTF-8")
	}
}

func (c *checker) terms() {
	t := c.def.Terms
	for _, m := range []struct {
		path  string
		value time.Duration
	}{
		{"$.timeout", t.Timeout},
		{"$.timeout_config.extension_duration", t.Extension},
		{"$.timeout_config.warn_before", t.WarnBefore},
	} {
		if m.value == 0 {
			continue
		}
		if m.value < minTerm || m.value > maxTerm || m.value%time.Millisecond != 0 {
			c.fault(m.path, fmt.Sprintf("%v is not within %d and %d whole milliseconds", m.value, minTerm.Milliseconds(), maxTerm.Milliseconds()),
				"write milliseconds, such as 300000 for five minutes")
		}
	}
	if t.Timeout > 0 && t.WarnBefore >= t.Timeout {
		c.fault("$.timeout_config.warn_before", fmt.Sprintf("the warning would come %v before the end, and the form is open for %v", t.WarnBefore, t.Timeout),
			"write less milliseconds than timeout has")
	}
	if n := t.MaxExtensions; n != nil && (*n < 0 || *n > maxExtensions) {
		c.fault("$.timeout_config.max_extensions", fmt.Sprintf("%d is not within 0 and %d", *n, maxExtensions), "write a whole number of at least 0, such as 10")
	}
	if n := t.MaxAttempts; n != 0 && (n < 1 || n > maxAttempts) {
		c.fault("$.max_attempts", fmt.Sprintf("%d is not within 1 and %d", n, maxAttempts), "write a whole number of at least 1, such as 3")
	}
}

// unique notes a field whose id an earlier one has.
func (c *checker) unique(i int) {
	id := c.def.Fields[i].ID
	if c.form.index == nil {
		c.form.index = make(map[string]int, len(c.def.Fields))
	}
	if first, ok := c.form.index[id]; ok {
		if id != "" {
			c.fault(fmt.Sprintf("$.fields[%d].id", i), fmt.Sprintf("the id %s is that of field %d too", quoted(id), first), "give each field an id of its own")
		}
		return
	}
	c.form.index[id] = i
}

// known notes a type that is none.
func (c *checker) known(i int) bool {
	t := c.def.Fields[i].Type
	if slices.Contains(types, t) {
		return true
	}
	path := fmt.Sprintf("$.fields[%d].type", i)
	words := make([]string, len(types))
	for i, known := range types {
		words[i] = string(known)
	}
	if t == "" {
		c.fault(path, "the field needs a type", "write "+choice(words))
		return false
	}
	fix := "write " + choice(words)
	if likely := likelyType(string(t), words); likely != "" {
		fix = "write " + quoted(likely)
	}
	c.fault(path, fmt.Sprintf("there is no type %s", quoted(string(t))), fix)
	return false
}

// likelyType is the type that a word of another language means.
func likelyType(word string, words []string) string {
	switch strings.ToLower(word) {
	case "string", "str", "textarea", "password", "email":
		return string(Text)
	case "integer", "int", "float", "decimal":
		return string(Number)
	case "bool", "checkbox", "toggle":
		return string(Boolean)
	case "enum", "dropdown", "radio", "choice":
		return string(Select)
	case "array", "multi", "multiple":
		return string(MultiSelect)
	case "uri", "link":
		return string(URL)
	case "datetime", "date-time", "time":
		return string(Date)
	case "upload", "attachment":
		return string(File)
	}
	return nearest(word, words)
}

var (
	schemeForm    = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	mimeForm      = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/([A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*|\*)$`)
	extensionForm = regexp.MustCompile(`^\.[A-Za-z0-9]+$`)
)
