package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
)

// Load reads the file at path, or no file if path is empty, and lays the
// variables of environ, in the form of os.Environ, over it. The error is
// [Faults], or says that the file could not be read.
func Load(path string, environ []string) (Config, error) {
	if path == "" {
		return Parse("", nil, environ)
	}
	file, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	if err != nil {
		return Config{}, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, data, environ)
}

// Parse makes a configuration out of a source, which name calls in faults, and
// of the variables of environ, in the form of os.Environ. The source is
// beckon.yaml, the same as JSON, or a client's file (see [Import]); an empty
// one leaves the defaults. The error is [Faults].
func Parse(name string, data []byte, environ []string) (Config, error) {
	env := variables(environ)
	r := newReader(name, func(name string) (string, bool) {
		value, set := env[name]
		return value, set
	})
	c := Default()
	if tree := r.read(data); tree != nil {
		if servers, ok := r.clientFile(tree); ok {
			tree = servers
		}
		r.decodeRoot(&c, tree)
	}
	r.overlay(&c, env)
	r.validate(&c)
	c.Notes = r.notes
	if len(r.faults) > 0 {
		return Config{}, r.faults.sorted()
	}
	return c, nil
}

// Default is the configuration of an empty file in an empty environment.
func Default() Config {
	var c Config
	setDefaults(reflect.ValueOf(&c).Elem())
	return c
}

// DefaultBackend is a backend of which nothing is written down yet.
func DefaultBackend() Backend {
	var b Backend
	setDefaults(reflect.ValueOf(&b).Elem())
	return b
}

// read gives the tree of a source, or nil after a fault.
func (r *reader) read(data []byte) *node {
	tree, err := readTree(data)
	if err == nil {
		return tree
	}
	broken, _ := errors.AsType[syntaxError](err)
	r.faultAt(broken.pos, "", broken.complaint)
	return nil
}

// decodeRoot fills c from the whole document.
func (r *reader) decodeRoot(c *Config, tree *node) {
	if tree.kind != kindMapping && tree.kind != kindNull {
		r.faultAt(tree.pos, "", complain("as in listen: \"127.0.0.1:7878\"",
			"expected a mapping (key: value), found %v", tree.kind))
		return
	}
	v := reflect.ValueOf(c).Elem()
	r.decode(v, field{typ: v.Type()}, tree, "")
}
