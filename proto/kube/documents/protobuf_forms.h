/* protobuf_forms: in which form a field of protobuf.def enters a tree; for whoever reads that
 * table.
 */
#ifndef KUBE_DOCUMENTS_PROTOBUF_FORMS_H
#define KUBE_DOCUMENTS_PROTOBUF_FORMS_H

enum form {
    FORM_text,
    FORM_given_text,
    FORM_number,
    FORM_given_number,
    FORM_flag,
    FORM_given_flag,
    FORM_numbers,
    FORM_flags,
    FORM_time,
    FORM_amount,
    FORM_object,
    FORM_objects,
    FORM_inlined,
    FORM_texts,
    FORM_amounts,
    FORM_texts_by_key,
    FORM_amounts_by_key,
    FORM_objects_by_key,
    FORM_keys
};

#endif
