"""Which of PyTorch's tests come out otherwise, and why: a list to read, held by each run.

A test that differs and is not here fails `make upstream`; so does one that is here and agrees, if
it was run. The names are those of PyTorch's source; nothing else of it is here.
"""

from __future__ import annotations

from typing import NamedTuple


class Listed(NamedTuple):
    zh: str
    en: str  # as the table says it
    reason: str
    tests: tuple[str, ...]


DYNAMO: tuple[Listed, ...] = (
    Listed("用 torch.jit.trace 检查编译过的函数", "have torch.jit.trace check a compiled function",
           "Names of generated code differ from run to run; the section and mini_dynamo say so.",
           ("ReproTests.test_jit_trace_errors",)),
    Listed("记下一个对象的地址", "keep the address of an object",
           "id() is another number in each process, and sometimes the same one in two alike.",
           ("MiscTests.test_id_guarded_object",)),
    Listed("经过断图，把没有梯度公式的算子交给 aot_eager",
           "give aot_eager an operator without a gradient, behind a break",
           "mini_dynamo breaks where torch.ops looks an operator up for the first time; behind a "
           "break aot_eager loses its requires_grad under torch.compile, too.",
           ("MiscTests.test_validate_outputs_unbacked_by_custom_op",)),
)
COMPILE: tuple[Listed, ...] = ()
MODULE: tuple[Listed, ...] = (
    Listed("用到没有的功能，要到断言才看出来",
           "need what is left out, and notice it by an assertion",
           "Hooks on all modules, swap_tensors, call_super_init, repr (mini_module_handy lists "
           "them); torch.__future__'s other ways to convert.",
           ("TestModuleGlobalHooks.test_module_global_hooks_with_kwargs",
            *(f"TestModuleHookNN.test_hook_{kind}_registration"
              for kind in ("buffer", "parameter", "submodule")),
            "TestStateDictHooks.test_register_state_dict_pre_hook_backward_compat",
            *(f"TestLoadStateDict.test_load_state_dict_assign_meta_swap_True_keep_vars_{kept}"
              for kept in (False, True)),
            *(f"TestLoadStateDictSwap.test_swap_subclass_swap_True_assign_{assign}"
              for assign in (False, True)),
            "TestNN.test_module_super_init", "TestNN.test_overwrite_module_params_on_conversion",
            "TestNN.test_repr", "TestNN.test_swap_module_params_poisons_acc_grad")),
    Listed("交给 torch 的工具，由它放进 nn.Parameter",
           "have a tool of torch put in an nn.Parameter",
           "Our Parameter is another class, as the section says: theirs is a tensor here.",
           ("TestNN.test_weight_norm", "TestNN.test_weight_norm_pickle")),
    Listed("用旧的参数表重写 register_buffer", "override register_buffer with its old arguments",
           "An assignment calls it with `persistent` here; torch has a rule for old subclasses.",
           ("TestNN.test_buffer_bad_module_subclass",)),
)
LAYERS: tuple[Listed, ...] = (
    Listed("要求另一种类型的异常", "want another kind of error",
           "TypeError for mixed dtypes, ValueError for a wrong target or a table without rows; in "
           "torch it is a RuntimeError, and label_smoothing is looked at first.",
           ("TestConvolutionNN.test_Conv2d_inconsistent_types",
            "TestConvolutionNN.test_conv_modules_raise_error_on_incorrect_input_size",
            "TestNNDeviceTypeCPU.test_cross_entropy_label_smoothing_errors_cpu",
            "TestEmbeddingNNDeviceTypeCPU.test_embedding_scalar_weight_error_cpu")),
    Listed("用到空张量，torch 才放行的", "rest on what torch takes only as it has no elements",
           "Of no channels torch makes none, whatever the kernel's shape says; of an empty batch "
           "it does not look at the dtypes. The docstring leaves both out.",
           (*(f"TestConvolutionNNDeviceTypeCPU.test_conv_empty_channel_cpu_{dtype}"
              for dtype in ("complex64", "float32")),
            "TestNNDeviceTypeCPU.test_BatchNorm_empty_cpu_float64")),
    Listed("问结果是否按 channels_last 存放", "ask whether the result lies as channels_last",
           "conv2d gives a contiguous result, whatever the layout of the image.",
           tuple(f"TestConvolutionNNDeviceTypeCPU.test_conv_thnn_nhwc_cpu_{dtype}"
                 for dtype in ("float32", "float64"))),
    Listed("比较 float32 的舍入", "compare float32 to its last digits",
           "Sums of thousands of products, in another order; in float64 they agree.",
           ("TestConvolutionNN.test_functional_grad_conv2d",)),
    Listed("要走 torch 的快速路径", "take a fast path of torch",
           "A module of torch asks whether its functions are replaced, and if so leaves that path.",
           ("TestNNDeviceTypeCPU.test_TransformerEncoderLayer_empty_cpu",
            "TestNNDeviceTypeCPU.test_transformerencoderlayer_cpu_float32")),
    Listed("要求拒绝 running 统计量的前向梯度",
           "want forward gradients of the running statistics refused",
           "torch.batch_norm has no rule for them; here they are tensors like others.",
           ("TestNN.test_batchnorm_raises_error_if_running_var_or_running_mean_have_forward_grad",)),
    Listed("对空 batch 求二阶梯度", "differentiate twice through an empty batch",
           "The windows are a view by as_strided; where that is empty, torch's gradient of it has "
           "no graph, so there is nothing to differentiate again.",
           ("TestNN.test_Conv2d_zero_batch",)),
)
INDEX: tuple[Listed, ...] = (
    Listed("要求不带下标的写入报错", "want an error for a write without an index",
           "index_put of no index at all into a tensor of no dimensions; here that is the tensor.",
           ("TestIndexingCPU.test_index_put_accumulate_empty_cpu",)),
)
LISTED = {"dynamo": DYNAMO, "compile": COMPILE, "module": MODULE, "layers": LAYERS, "index": INDEX}
