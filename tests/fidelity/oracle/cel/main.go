// cel: k8s.io/dynamic-resource-allocation/cel as a witness, `cel lists` with DRAListTypeAttributes. Reads a JSON object a line, an expression
// and devices, and answers a JSON object a line: how it compiles and, for each device, how it evaluates.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"
)

type device struct {
	Driver     string                                                    `json:"driver"`
	Allow      *bool                                                     `json:"allowMultipleAllocations"`
	Attributes map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity   map[resourceapi.QualifiedName]string                      `json:"capacity"`
}

type question struct {
	Expression string   `json:"expression"`
	Devices    []device `json:"devices"`
}

type outcome struct {
	Verdict string  `json:"verdict"`
	Error   string  `json:"error,omitempty"`
	Cost    *uint64 `json:"cost,omitempty"`
}

type answer struct {
	CompileError string    `json:"compileError,omitempty"`
	Outcomes     []outcome `json:"outcomes,omitempty"`
}

func match(compiled cel.CompilationResult, d device) outcome {
	input := cel.Device{Driver: d.Driver, AllowMultipleAllocations: d.Allow, Attributes: d.Attributes,
		Capacity: map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{}}
	for name, text := range d.Capacity {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return outcome{Verdict: "bad device", Error: err.Error()}
		}
		input.Capacity[name] = resourceapi.DeviceCapacity{Value: quantity}
	}
	matches, details, err := compiled.DeviceMatches(context.Background(), input)
	out := outcome{Verdict: "no match", Cost: details.ActualCost()}
	if err != nil {
		out.Verdict, out.Error = "failed", err.Error()
	} else if matches {
		out.Verdict = "match"
	}
	return out
}

// answerTo compiles and matches; upstream's validator panics on a few expressions.
func answerTo(q question, compile func(string) cel.CompilationResult) (a answer) {
	defer func() {
		if recovered := recover(); recovered != nil {
			a = answer{CompileError: fmt.Sprintf("panic: %v", recovered)}
		}
	}()
	compiled := compile(q.Expression)
	if compiled.Error != nil {
		return answer{CompileError: compiled.Error.Error()}
	}
	for _, d := range q.Devices {
		a.Outcomes = append(a.Outcomes, match(compiled, d))
	}
	return a
}

func main() {
	lists := len(os.Args) > 1 && os.Args[1] == "lists"
	compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: lists})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		a := answerTo(q, func(expression string) cel.CompilationResult {
			return compiler.CompileCELExpression(expression, cel.Options{DisableCostEstimation: true})
		})
		if err := encoder.Encode(a); err != nil {
			os.Exit(1)
		}
	}
}
