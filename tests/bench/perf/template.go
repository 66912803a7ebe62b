package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// The functions that upstream's templates may call; they take numbers of any kind, and strings of digits.
var templateFunctions = template.FuncMap{
	"AddFloat":      sum,
	"AddInt":        func(values ...any) int { return int(sum(values...)) },
	"SubtractFloat": func(a, b any) float64 { return number(a) - number(b) },
	"SubtractInt":   func(a, b any) int { return int(number(a) - number(b)) },
	"MultiplyFloat": product,
	"MultiplyInt":   func(values ...any) int { return int(product(values...)) },
	"DivideFloat":   quotient,
	"DivideInt":     func(a, b any) int { return int(quotient(a, b)) },
	"Mod":           func(a, b any) int { return int(number(a)) % int(number(b)) },
	"Int":           func(value any) int { return int(number(value)) },
	"JSON":          asJSON,
}

// asJSON writes a value as YAML reads it, without the escapes that HTML needs.
func asJSON(value any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSpace(text.String()), err
}

func number(value any) float64 {
	parsed, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil {
		panic(fmt.Sprintf("%v is no number", value))
	}
	return parsed
}

func sum(values ...any) float64 {
	total := 0.0
	for _, value := range values {
		total += number(value)
	}
	return total
}

func product(values ...any) float64 {
	total := 1.0
	for _, value := range values {
		total *= number(value)
	}
	return total
}

func quotient(a, b any) float64 {
	if number(b) == 0 {
		panic("division by zero")
	}
	return number(a) / number(b)
}

// Template is a file of upstream's; most say nothing of index and count and are read only once.
type Template struct {
	path     string
	parsed   *template.Template
	constant bool
	params   map[string]any // what the operation hands to it
}

func readTemplate(path string, params map[string]any) (*Template, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New("object").Funcs(templateFunctions).Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Template{path, parsed, !bytes.Contains(text, []byte("{{")), params}, nil
}

// render reads object `index` of `count` into a fresh *T.
func render[T any](t *Template, index, count int) (*T, error) {
	var text bytes.Buffer
	values := map[string]any{}
	maps.Copy(values, t.params)
	values["Index"], values["Count"] = index, count
	if err := t.parsed.Execute(&text, values); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	object := new(T)
	if err := yaml.UnmarshalStrict(text.Bytes(), object); err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	return object, nil
}

// copier renders a template as cheaply as it allows: a constant one is parsed once and copied.
func copier[T any, P interface {
	*T
	DeepCopy() *T
}](t *Template) func(index, count int) (*T, error) {
	var first *T
	return func(index, count int) (*T, error) {
		if !t.constant {
			return render[T](t, index, count)
		}
		if first == nil {
			var err error
			if first, err = render[T](t, index, count); err != nil {
				return nil, err
			}
		}
		return P(first).DeepCopy(), nil
	}
}
