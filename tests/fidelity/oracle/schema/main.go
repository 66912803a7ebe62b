// Command schema prints ctl/schema_1_36.def, or with 1.37's modules ctl/schema_1_37.def: the fields of every
// kind that a scenario may hold, by the API's own Go types, so that berth simulate can refuse what is misspelt.
package main

import (
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// coschedulingPodGroup is the PodGroup of scheduling.x-k8s.io and, before, scheduling.sigs.k8s.io.
type coschedulingPodGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              coschedulingSpec   `json:"spec,omitempty"`
	Status            coschedulingStatus `json:"status,omitempty"`
}

type coschedulingSpec struct {
	MinMember              int32               `json:"minMember,omitempty"`
	MinResources           corev1.ResourceList `json:"minResources,omitempty"`
	ScheduleTimeoutSeconds *int32              `json:"scheduleTimeoutSeconds,omitempty"`
}

type coschedulingStatus struct {
	Phase             string      `json:"phase,omitempty"`
	OccupiedBy        string      `json:"occupiedBy,omitempty"`
	Scheduled         int32       `json:"scheduled,omitempty"`
	Running           int32       `json:"running,omitempty"`
	Succeeded         int32       `json:"succeeded,omitempty"`
	Failed            int32       `json:"failed,omitempty"`
	ScheduleStartTime metav1.Time `json:"scheduleStartTime,omitempty"`
}

type kind struct {
	version, kind string
	example       any
}

var kinds = []kind{
	{"v1", "Pod", corev1.Pod{}},
	{"v1", "Node", corev1.Node{}},
	{"v1", "Namespace", corev1.Namespace{}},
	{"v1", "Service", corev1.Service{}},
	{"v1", "ReplicationController", corev1.ReplicationController{}},
	{"v1", "PersistentVolume", corev1.PersistentVolume{}},
	{"v1", "PersistentVolumeClaim", corev1.PersistentVolumeClaim{}},
	{"apps/v1", "ReplicaSet", appsv1.ReplicaSet{}},
	{"apps/v1", "StatefulSet", appsv1.StatefulSet{}},
	{"policy/v1", "PodDisruptionBudget", policyv1.PodDisruptionBudget{}},
	{"node.k8s.io/v1", "RuntimeClass", nodev1.RuntimeClass{}},
	{"scheduling.k8s.io/v1", "PriorityClass", schedulingv1.PriorityClass{}},
	{"storage.k8s.io/v1", "StorageClass", storagev1.StorageClass{}},
	{"storage.k8s.io/v1", "CSINode", storagev1.CSINode{}},
	{"storage.k8s.io/v1", "CSIDriver", storagev1.CSIDriver{}},
	{"storage.k8s.io/v1", "CSIStorageCapacity", storagev1.CSIStorageCapacity{}},
	{"storage.k8s.io/v1", "VolumeAttachment", storagev1.VolumeAttachment{}},
	{"resource.k8s.io/v1", "DeviceClass", resourcev1.DeviceClass{}},
	{"resource.k8s.io/v1", "ResourceSlice", resourcev1.ResourceSlice{}},
	{"resource.k8s.io/v1", "ResourceClaim", resourcev1.ResourceClaim{}},
	{"resource.k8s.io/v1", "ResourceClaimTemplate", resourcev1.ResourceClaimTemplate{}},
}

// podGroups are those of all API groups, the release's own first.
func podGroups() []kind {
	return append(ownPodGroups, kind{"scheduling.x-k8s.io/v1alpha1", "PodGroup", coschedulingPodGroup{}},
		kind{"scheduling.sigs.k8s.io/v1alpha1", "PodGroup", coschedulingPodGroup{}})
}

// scalars are the types that are one value in JSON whatever they are in Go.
var scalars = map[reflect.Type]string{
	reflect.TypeOf(resource.Quantity{}):    "VALUE_quantity",
	reflect.TypeOf(metav1.Time{}):          "VALUE_time",
	reflect.TypeOf(metav1.MicroTime{}):     "VALUE_time",
	reflect.TypeOf(metav1.Duration{}):      "VALUE_text",
	reflect.TypeOf(intstr.IntOrString{}):   "VALUE_int_or_text",
	reflect.TypeOf(runtime.RawExtension{}): "VALUE_any",
	reflect.TypeOf(metav1.FieldsV1{}):      "VALUE_any",
}

type field struct{ name, form, value string }

type schema struct {
	names  map[reflect.Type]string
	fields map[string][]field
}

// value says what a single value of the type is: a scalar, or TYPE_ and a type's name.
func (s *schema) value(t reflect.Type) string {
	if word, ok := scalars[t]; ok {
		return word
	}
	switch t.Kind() {
	case reflect.String:
		return "VALUE_text"
	case reflect.Bool:
		return "VALUE_truth"
	case reflect.Int32, reflect.Int, reflect.Uint32, reflect.Uint8:
		return "VALUE_int32"
	case reflect.Int64, reflect.Uint64:
		return "VALUE_int64"
	case reflect.Struct:
		return "TYPE_" + s.add(t)
	case reflect.Slice, reflect.Map: // a list of lists: nothing of that is in these kinds
		panic("no form for " + t.String())
	}
	panic("no value for " + t.String())
}

func (s *schema) form(t reflect.Type) (form, value string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, ok := scalars[t]; ok {
		return "one", s.value(t)
	}
	switch t.Kind() {
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "one", "VALUE_text"
		}
		_, value = s.form(t.Elem())
		return "list", value
	case reflect.Map:
		if t.Elem().Kind() == reflect.Slice {
			return "map", "VALUE_any"
		}
		_, value = s.form(t.Elem())
		return "map", value
	}
	return "one", s.value(t)
}

func (s *schema) add(t reflect.Type) string {
	if name, ok := s.names[t]; ok {
		return name
	}
	name := t.Name()
	for _, taken := range s.names {
		if taken == name {
			parts := strings.Split(t.PkgPath(), "/")
			name = strings.Join(parts[len(parts)-2:], "_") + "_" + t.Name()
			break
		}
	}
	s.names[t] = name
	s.fields[name] = s.of(t)
	return name
}

func (s *schema) of(t reflect.Type) []field {
	var list []field
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			list = append(list, s.of(f.Type)...)
			continue
		}
		if tag == "-" || !f.IsExported() {
			continue
		}
		form, value := s.form(f.Type)
		list = append(list, field{tag, form, value})
	}
	return list
}

func main() {
	s := &schema{map[reflect.Type]string{}, map[string][]field{}}
	fmt.Fprintln(os.Stdout, `/* The fields of every kind that a scenario may hold, by Kubernetes `+minor+`'s own types. Made by
 * tests/fidelity/oracle/schema; not edited by hand.
 *
 *   SCHEMA_KIND(apiVersion, kind, type)
 *   SCHEMA_TYPE(type) SCHEMA_FIELD(name, form, value)… SCHEMA_END
 *                     form is one, list or map (of texts to values) */`)
	for _, k := range append(append(kinds, ownTaintRule), podGroups()...) {
		fmt.Printf("SCHEMA_KIND(%q, %q, TYPE_%s)\n", k.version, k.kind, s.add(reflect.TypeOf(k.example)))
	}
	var names []string
	for name := range s.fields {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Printf("SCHEMA_TYPE(%s)\n", name)
		for _, f := range s.fields[name] {
			fmt.Printf("    SCHEMA_FIELD(%q, %s, %s)\n", f.name, f.form, f.value)
		}
		fmt.Println("SCHEMA_END")
	}
}
