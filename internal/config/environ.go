package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
)

const (
	// PathVariable names the configuration file for the commands of Beckon. It
	// is not a key, and this package does not look at it.
	PathVariable = "BECKON_CONFIG"

	// TokenVariable holds the token with which commands of Beckon speak to a gateway.
	// It is no key either, and may be set where a gateway starts.
	TokenVariable = "BECKON_TOKEN"

	// variablePrefix begins the names of the variables that stand for keys.
	variablePrefix = "BECKON_"
)

// Variable is a variable of the environment that overrides a key.
type Variable struct {
	// Its name, such as BECKON_INPUT_TIMEOUT.
	Name string

	// The path of the key, such as input.timeout.
	Key string

	// The name is another gateway's. The BECKON_ variable of the same key wins.
	Alias bool
}

// Variables lists the variables that override keys, in the order of the keys,
// the aliases last. Every single value outside of lists has one.
func Variables() []Variable {
	var list []Variable
	for _, l := range leaves() {
		list = append(list, Variable{Name: l.variable, Key: l.path})
	}
	for _, a := range aliases() {
		list = append(list, Variable{Name: a.name, Key: a.path, Alias: true})
	}
	return list
}

// leaf is a single value that has a path of its own.
type leaf struct {
	// Its path, its variable, and what its tags say.
	path, variable string
	field          field

	// Where it is in Config.
	index []int
}

// leaves lists the single values of Config, in order.
func leaves() []leaf { return leavesOf(reflect.TypeFor[Config](), "", nil) }

// leavesOf lists the single values of a section.
func leavesOf(t reflect.Type, path string, index []int) []leaf {
	var list []leaf
	for _, f := range fieldsOf(t) {
		at, where := join(path, f.key), append(slices.Clone(index), f.index)
		switch f.shape() {
		case shapeSection:
			list = append(list, leavesOf(f.typ, at, where)...)
		case shapeScalar:
			variable := variablePrefix + strings.ToUpper(strings.ReplaceAll(at, ".", "_"))
			list = append(list, leaf{at, variable, f, where})
		}
	}
	return list
}

// alias is another gateway's name for a key.
type alias struct {
	// The variable, and the path of the key.
	name, path string

	// Appended to the value: the unit that the other gateway implies.
	unit string
}

// aliases lists the variables of ContextForge that mean the same here.
func aliases() []alias {
	return []alias{
		{"MCPGATEWAY_ELICITATION_ENABLED", "input.elicitation", ""},
		{"MCPGATEWAY_ELICITATION_TIMEOUT", "input.timeout", "s"},
		{"MCPGATEWAY_ELICITATION_MAX_CONCURRENT", "input.max_concurrent", ""},
	}
}

// variables makes a map of what os.Environ gives; of a repeated name the last
// one counts, as in a child process.
func variables(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, value, found := strings.Cut(e, "="); found {
			m[name] = value
		}
	}
	return m
}

// overlay lays the variables over what the file says.
func (r *reader) overlay(c *Config, env map[string]string) {
	for _, l := range leaves() {
		for _, a := range aliases() {
			value, set := env[a.name]
			if _, better := env[l.variable]; set && !better && a.path == l.path {
				r.override(c, l, a.name, value, a.unit)
			}
		}
		if value, set := env[l.variable]; set {
			r.override(c, l, l.variable, value, "")
		}
	}
	r.refuseUnknown(env)
}

// override sets a key from a variable.
func (r *reader) override(c *Config, l leaf, variable, value, unit string) {
	r.marks[l.path] = mark{variable: variable}
	v := reflect.ValueOf(c).Elem().FieldByIndex(l.index)
	if checkCharacters(value) != nil {
		r.reject(l.path, complain("", "holds control characters or is not UTF-8"))
		return
	}
	if unit != "" {
		if _, err := parseWhole(value); err != nil {
			r.reject(l.path, complain("", "expected a number of seconds such as 60, found %s", quoteShort(value)))
			return
		}
	}
	if err := setText(v, l.field, value+unit); err != nil {
		r.reject(l.path, err.(complaint))
	}
}

// serviceLink is how Kubernetes calls the variables that it sets in every pod
// for a service named beckon, or beckon-something.
var serviceLink = regexp.MustCompile(`^BECKON_(\w+_)?(SERVICE_(HOST|PORT(_\w+)?)|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// refuseUnknown reports the BECKON_ variables that mean nothing: most likely a
// slip, and the setting would silently not apply.
func (r *reader) refuseUnknown(env map[string]string) {
	var known []string
	for _, l := range leaves() {
		known = append(known, l.variable)
	}
	var unknown []string
	for name, value := range env {
		link := serviceLink.MatchString(name) || strings.HasSuffix(name, "_PORT") && strings.Contains(value, "://")
		if strings.HasPrefix(name, variablePrefix) && name != PathVariable && name != TokenVariable &&
			!slices.Contains(known, name) && !r.referred[name] && !link {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		f := Fault{File: environment, Key: name, Problem: "no key has this variable"}
		if word := nearest(name, known); word != "" {
			f.Hint = "did you mean " + word + "?"
		} else {
			f.Hint = "only single values have one, lists and backends are set in the file; see docs/configuration.md"
		}
		r.faults = append(r.faults, f)
	}
}
