"""Where mini_dynamo makes other graphs or breaks than torch.compile, and why.

Each entry: what it is about, the reason in plain words, its cases. A case that differs and is not
listed fails the test, and so does a listed one that does not differ any more. Counted with the
torch that the book pins.
"""

from typing import NamedTuple


class Listed(NamedTuple):
    what: str
    reason: str
    cases: tuple[str, ...]


LISTED: tuple[Listed, ...] = (
    Listed(
        "torch's result is wrong here",
        "torch.compile misses a change or mistakes a value and gives another result than "
        "Python; mini_dynamo guards it or breaks, which takes a graph or a break more.", (
            "arguments: a_wrong_call",
            "changes between calls: a_name_of_builtins_is_hidden",
            "changes between calls: a_method_is_replaced",
            "changes between calls: a_hook_appears",
            "changes between calls: a_method_of_a_subclass_is_added",
            "corners: zeros_with_a_sign",
            "corners: a_tensor_is_looked_for",
            "corners: attributes_with_a_will_of_their_own",
            "corners: a_function_that_counts_itself",
            "far corners: two_lists_then_one",
            "far corners: two_objects_then_one",
            "far corners: a_variable_of_the_environment_changes",
            "far corners: a_generator_of_python_from_outside",
            "harder classes: a_property_of_an_exception",
            "harder classes: a_hook_on_every_module_appears",
            "harder classes: the_call_of_a_module_is_replaced",
            "harder classes: a_nearer_class_says_more",
            "harder classes: special_methods_appear",
            "harder programs: functions_as_keys",
            "harder programs: numbers_that_are_one_object",
            "harder programs: two_cells_then_one",
            "harder programs: an_attribute_in_a_format",
            "harder programs: keys_that_are_equal",
        )),
    Listed(
        "code of the program behind a harmless look, or an identity",
        "torch follows such code, or guards the identity; mini_dynamo breaks or gives the frame "
        "to Python, because a right rule would be long.", (
            "harder classes: a_property_of_a_namedtuple",
            "harder classes: a_list_in_a_namedtuple",
            "harder classes: a_list_in_an_enum",
            "harder classes: a_descriptor_on_the_class",
            "harder programs: what_a_protocol_says",
            "harder programs: a_dict_with_tensors_as_keys",
            "harder programs: a_dict_with_objects_as_keys",
            "harder programs: an_attribute_of_a_tensor_appears",
            "harder programs: a_name_that_is_bound_sometimes",
            "harder programs: a_slot_that_is_not_there",
            "harder programs: a_special_method_as_argument",
            "harder programs: a_global_by_the_table_of_globals",
            "harder programs: a_helper_raises_again",
        )),
    Listed(
        "torch refuses while tracing",
        "torch raises an error of its own while it traces, before there is a graph; "
        "mini_dynamo makes a graph of what came before and lets Python raise.", (
            "changes between calls: the_code_of_a_function_is_replaced",
            "far corners: recursion_far_down",
        )),
    Listed(
        "an exception leaves the function",
        "torch gives up a frame whose exception nobody catches; mini_dynamo keeps the graph "
        "up to it and lets Python raise behind a break.", (
            "arguments: an_argument_is_missing",
            "closures and globals: a_global_is_deleted_and_set",
        )),
    Listed(
        "an assertion on data",
        "torch puts the assertion into the graph as an operation; mini_dynamo breaks there as "
        "at any other branch on data.", (
            "conditions on data: an_assertion_that_holds",
            "conditions on data: an_assertion_that_fails",
        )),
    Listed(
        "code of the standard library or of torch",
        "torch follows Python code of contextlib, functools, collections, random and of its "
        "own; mini_dynamo follows the program's own functions and breaks at others, because "
        "each would need a rule or a list of what may be followed.", (
            "far corners: the_default_dtype_is_changed_inside",
            "gradients: a_function_of_ones_own",
            "modules: an_optimizer_steps",
            "questions of a tensor: the_mode_of_the_thread",
            "random numbers: drawn_by_python",
            "ready made classes: a_namedtuple_is_made",
            "with blocks: autocast_on_the_cpu",
        )),
    Listed(
        "functions and classes written in C",
        "torch has a rule or a copy in Python for these; mini_dynamo has rules for lists, "
        "dicts, sets, tuples and some builtins, and breaks at others.", (
            "builtin functions: identity",
            "builtin functions: hash_and_ids",
            "changes between calls: a_constant_of_a_module_is_patched",
            "classes: the_text_of_an_object",
            "containers: a_default_dict",
            "containers: a_deque",
            "containers: an_ordered_dict",
            "containers: counted_words",
            "corners: an_iterator_from_outside",
            "corners: a_subclass_of_list",
            "corners: a_subclass_of_dict",
            "corners: a_subclass_of_int",
            "corners: text_written_otherwise",
            "corners: the_same_object_each_time",
            "exceptions: caught_from_a_call",
            "random numbers: a_generator_of_ones_own",
            "ready made classes: a_cached_function",
            "ready made classes: a_cached_property",
        )),
    Listed(
        "frames that are not interpreted",
        "torch has rules for these instructions or for looking at a frame's names; "
        "mini_dynamo leaves frames with them to Python (see LEFT_OUT in "
        "test_mini_dynamo_pythons.py).", (
            "builtin functions: eval_of_a_text",
            "builtin functions: names_of_locals",
            "classes: attributes_by_name",
        )),
    Listed(
        "generators",
        "torch traces a generator as a value that can be rebuilt; mini_dynamo follows one "
        "only while the loop that reads it is traced as well.", (
            "comprehensions and generators: sent_values",
            "modules: a_gradient_step_by_hand",
        )),
    Listed(
        "numpy",
        "torch translates numpy calls into tensor operations; mini_dynamo leaves them to "
        "Python.", (
            "values that leave: to_numpy_and_back",
            "values that leave: numpy_inside",
            "values that leave: an_array_as_argument",
        )),
    Listed(
        "hooks, modules made inside, parameters()",
        "torch traces hooks of modules and the making of modules; mini_dynamo breaks there "
        "and lets Python call.", (
            "modules: a_forward_hook",
            "modules: a_pre_hook_prints",
            "modules: a_module_made_inside",
        )),
    Listed(
        "attributes of tensors, functions and modules",
        "torch records writes of these attributes and replays them; mini_dynamo breaks at an "
        "assignment that needs a rule of its own.", (
            "classes: a_class_attribute_is_counted",
            "corners: operations_that_give_back_what_they_got",
            "corners: functions_with_attributes",
            "far corners: a_global_of_another_module_is_written",
            "far corners: an_attribute_of_a_tensor",
            "gradients: a_hook_on_a_tensor",
            "gradients: a_gradient_is_set",
            "in place and views: data_is_replaced",
        )),
    Listed(
        "where a frame is resumed",
        "both break at the same place; behind it one of them records the rest of the frame in "
        "other pieces.", (
            "conditions on data: a_bool_of_a_tensor",
            "gradients: switched_on_inside",
            "gradients: retained",
            "loops: until_the_data_say_stop",
            "texts and prints: print_of_an_f_string",
            "values that leave: a_size_from_data",
            "values that leave: a_tensor_as_text",
        )),
    Listed(
        "two arguments that are one tensor",
        "torch compiles anew, because later stages may not mix up memory; mini_dynamo runs "
        "the graph as it is, which is right for either.", (
            "exceptions: torch_is_called_wrongly",
        )),
)


def reasons():
    """{case: its entry}."""
    return {case: one for one in LISTED for case in one.cases}
