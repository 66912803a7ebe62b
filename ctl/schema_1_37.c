/* schema_1_37: the fields of all kinds as the API server of Kubernetes 1.37 has them. */
#define SCHEMA_FILE "ctl/schema_1_37.def"
#define SCHEMA_NAME schema_1_37
#include "ctl/schema_rows.h"
